#!/usr/bin/env node
// What every Node can read: it says in one line what is missing, before anything is loaded that needs more than is there.
import { existsSync } from "node:fs"

const has = (path) => existsSync(new URL(path, import.meta.url))
const refuse = (line) => {
  console.error(`Inlet can't start: ${line}`)
  process.exitCode = 1
}

// A clone has the sources, the package and the image what was compiled of them.
const [folder, ending] = has("./src/main.ts") ? ["./src", "ts"] : ["./dist/src", "js"]
const isClone = ending === "ts"
// Without anything else to be read, `start` needs none of the command line.
const isStart = process.argv.length === 3 && process.argv[2] === "start"

/**
 * By itself glibc keeps a heap for every few threads, and what one has freed is of no use to the others: a fifth of the
 * memory of a busy service. It reads the setting when a process begins, so this one begins once more, in its own place.
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
  if (isStart) shareOneHeap()
  await import(`${folder}/${isStart ? "main" : "cli/main"}.${ending}`).catch((error) => {
    if (error.code !== "ERR_MODULE_NOT_FOUND") throw error
    refuse(
      `A dependency is not installed (${error.message.replace(/ imported from .*/s, "")}). Run ${isClone ? "npm ci" : "npm install inlet-mail"} first`
    )
  })
}
