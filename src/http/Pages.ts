import { fileURLToPath } from "node:url"
import { Effect, FileSystem, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import * as Settings from "../Settings.ts"
import { commandLine } from "../Version.ts"

const folder = new URL("../demo/", import.meta.url)

/** Each path and the file that is served there. */
const files = {
  "/": "index.html",
  "/purchase/success": "purchase-success.html",
  "/purchase/cancel": "purchase-cancel.html",
  "/assets/inlet.css": "inlet.css",
  "/assets/reference.css": "reference.css",
  "/assets/demo.js": "demo.js",
  "/assets/inlet.svg": "inlet.svg",
  // Where browsers look on pages that name no icon, such as /docs.
  "/favicon.ico": "inlet.svg"
} as const

const types: Record<string, string> = {
  html: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml"
}

/** A page may load what is ours, and nothing else. */
export const headers = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  // Small, and never older than the service behind it.
  "cache-control": "no-cache"
}

const escape = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;")

/** The pages for people: the demo at `/`, and those that a checkout returns to. Read once at start. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const { production, publicUrl } = yield* Settings.http
    const { host, port } = yield* Settings.smtp
    const reachable = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host
    // In production mail finds its way by DNS; elsewhere the sender has to be told where the server is.
    const send = `${commandLine} send${port === Settings.defaultSmtpPort ? "" : ` --port ${port}`}`
    const values: Record<string, string> = { url: publicUrl, send, smtp: production ? "" : `${reachable}:${port}` }

    const routes = yield* Effect.forEach(Object.entries(files), ([path, file]) =>
      Effect.gen(function* () {
        const text = yield* fs.readFileString(fileURLToPath(new URL(file, folder)))
        const body = text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => escape(values[name] ?? ""))
        const contentType = types[file.slice(file.lastIndexOf(".") + 1)] ?? "application/octet-stream"
        return HttpRouter.add("GET", path as `/${string}`, HttpServerResponse.text(body, { contentType, headers }))
      })
    )
    return Layer.mergeAll(Layer.empty, ...routes)
  })
)
