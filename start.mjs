#!/usr/bin/env node
// Runs on every version of Node. Reports an old Node or missing dependencies in one line, before it loads them.
import { existsSync } from "node:fs"
import * as module from "node:module"
import { fileURLToPath } from "node:url"

const has = (path) => existsSync(new URL(path, import.meta.url))
const refuse = (line) => {
  console.error(`Inlet can't start: ${line}`)
  process.exitCode = 1
}

// A clone has the sources. The package and the image have compiled code.
const [folder, ending] = has("./src/main.ts") ? ["./src", "ts"] : ["./dist/src", "js"]
const isClone = ending === "ts"
// `start` without flags skips loading the command line.
const isService = process.argv[2] === "start"
const isStart = isService && process.argv.length === 3

/**
 * Replaces this process by one with a single malloc arena. glibc otherwise keeps a heap for every few threads, which costs
 * a fifth of the memory of a busy service, and reads the setting only when a process starts.
 */
const shareOneHeap = () => {
  if (process.platform !== "linux" || process.execve === undefined || process.env.MALLOC_ARENA_MAX !== undefined) return
  // A parent that talks to this process, as supervisors written in Node do, would lose its channel.
  if (process.connected) return
  process.execve(process.execPath, [process.execPath, ...process.execArgv, ...process.argv.slice(1)], {
    ...process.env,
    MALLOC_ARENA_MAX: "1"
  })
}

/**
 * Stores compiled code in node_modules, so that later starts and commands are about a second faster. Does nothing if the
 * folder is not writable. Node's default folder is in /tmp, where another user could put code.
 */
const cacheCompiledCode = () => {
  const folder = has("./node_modules") ? "./node_modules/.cache/inlet" : "../.cache/inlet"
  module.enableCompileCache(fileURLToPath(new URL(folder, import.meta.url)))
}

const [major, minor] = process.versions.node.split(".").map(Number)

if (major < 22 || (major === 22 && minor < 19)) {
  refuse(
    `It needs Node 22.19 or later, and this is ${process.versions.node}. ${
      isClone
        ? "npm ci brings one for npm start, unless scripts are switched off (--ignore-scripts): then run npm rebuild node"
        : "npm install node@24 brings one that npx inlet-mail start then uses"
    }`
  )
} else {
  if (isService) shareOneHeap()
  cacheCompiledCode()
  await import(`${folder}/${isStart ? "main" : "cli/main"}.${ending}`).catch((error) => {
    if (error.code !== "ERR_MODULE_NOT_FOUND") throw error
    refuse(
      `A dependency is not installed (${error.message.replace(/ imported from .*/s, "")}). Run ${isClone ? "npm ci" : "npm install inlet-mail"} first`
    )
  })
}
