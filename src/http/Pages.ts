import { fileURLToPath } from "node:url"
import { Effect, FileSystem, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import * as Settings from "../Settings.ts"
import { commandLine } from "../Version.ts"
import * as PageFrame from "./pages/PageFrame.ts"
import * as PurchasePages from "./purchase/PurchasePages.ts"

const folder = new URL("../demo/", import.meta.url)

/** Each path with its file. */
const files = {
  "/assets/inlet.css": "inlet.css",
  "/assets/reference.css": "reference.css",
  "/assets/copy.js": "copy.js",
  "/assets/demo.js": "demo.js",
  "/assets/inlet.svg": "inlet.svg",
  // The icon path that browsers request for other documents.
  "/favicon.ico": "inlet.svg"
} as const

const types: Record<string, string> = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml"
}

/** The files of the page at `/`. A private service has no demo. */
const starts = {
  open: { file: "demo.html", assets: ["inlet.css", "copy.js", "demo.js"] },
  admin: { file: "private.html", assets: ["inlet.css"] }
} as const

/** The HTML pages: the one at `/`, and the return pages of a checkout. Files are read once at start. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const { publicUrl } = yield* Settings.http
    const { port } = yield* Settings.smtp
    const start = starts[(yield* Settings.clients).workspaceCreation]
    const read = (file: string) => fs.readFileString(fileURLToPath(new URL(file, folder)))
    const send = `${commandLine} send${port === Settings.defaultSmtpPort ? "" : ` --port ${port}`}`
    const values: Record<string, string> = { url: publicUrl, send, smtp: (yield* Settings.smtpNearby) ?? "" }

    const first = PageFrame.render({
      title: "Inlet: mail in, signed JSON out",
      description: "Inbound email for agents: mail in over SMTP, signed JSON webhooks out.",
      assets: start.assets,
      body: (yield* read(start.file)).replace(/\{\{(\w+)\}\}/g, (_, name: string) =>
        PageFrame.escape(values[name] ?? "")
      )
    })

    const routes = yield* Effect.forEach(Object.entries(files), ([path, file]) =>
      Effect.map(read(file), (body) => {
        const contentType = types[file.slice(file.lastIndexOf(".") + 1)] ?? "application/octet-stream"
        const answer = HttpServerResponse.text(body, { contentType, headers: PageFrame.headers })
        return HttpRouter.add("GET", path as `/${string}`, answer)
      })
    )
    return Layer.mergeAll(HttpRouter.add("GET", "/", PageFrame.answer(first)), PurchasePages.layer, ...routes)
  })
)
