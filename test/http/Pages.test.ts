import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestInlet } from "../TestInlet.ts"

const pages = ["/", "/purchase/success", "/purchase/cancel"]
const assets = {
  "/assets/inlet.css": "text/css",
  "/assets/reference.css": "text/css",
  "/assets/demo.js": "text/javascript",
  "/assets/inlet.svg": "image/svg+xml"
}

layer(TestInlet.layer({ SERVICE_PUBLIC_URL: `https://inlet.example.com/?a="><b>` }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("The pages", (it) => {
  it.effect("are served with their assets, each as what it is", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      for (const path of pages) {
        const { headers, status, text } = yield* inlet.call("GET", path)
        assert.strictEqual(status, 200)
        assert.strictEqual(headers["content-type"], "text/html; charset=utf-8")
        for (const [, link = ""] of text.matchAll(/(?:href|src)="(\/[^"]*)"/g)) {
          assert.strictEqual((yield* inlet.call("GET", link)).status, 200, link)
        }
      }
      for (const [path, type] of Object.entries(assets)) {
        const { headers, status } = yield* inlet.call("GET", path)
        assert.strictEqual(status, 200)
        assert.isTrue(headers["content-type"]?.startsWith(type), path)
      }
    })
  )

  it.effect("allow nothing that they do not need", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      for (const path of [...pages, ...Object.keys(assets)]) {
        const { headers } = yield* inlet.call("GET", path)
        assert.deepStrictEqual((headers["content-security-policy"] ?? "").split("; "), [
          "default-src 'none'",
          "script-src 'self'",
          "style-src 'self'",
          "img-src 'self'",
          "connect-src 'self'",
          "frame-src 'self'",
          "base-uri 'none'",
          "form-action 'self'",
          "frame-ancestors 'none'"
        ])
        assert.strictEqual(headers["x-content-type-options"], "nosniff")
        assert.strictEqual(headers["referrer-policy"], "no-referrer")
      }
    })
  )

  it.effect("name no other host to load from, and carry no script or style in their text", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      for (const path of pages) {
        const { text } = yield* inlet.call("GET", path)
        assert.notMatch(text, /(?:src|href|action)="(?:https?:)?\/\//)
        assert.notMatch(text, /<style|<script(?![^>]* src=)|\son\w+=|\sstyle=/)
      }
      for (const path of ["/assets/inlet.css", "/assets/demo.js"]) {
        const { text } = yield* inlet.call("GET", path)
        // The name of a language, which nothing is loaded from.
        const own = text.replaceAll("http://www.w3.org/2000/svg", "")
        assert.notMatch(own, /https?:\/\/|innerHTML|outerHTML|insertAdjacentHTML|eval\(/)
      }
    })
  )

  it.effect("name the public URL in their curl lines, and it stays text", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      for (const path of pages) {
        const { text } = yield* inlet.call("GET", path)
        assert.include(text, "https://inlet.example.com/?a=&quot;>&lt;b>/api/")
        assert.notInclude(text, "{{")
      }
    })
  )

  it.effect("answer HEAD like GET, and other methods with 405", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      for (const path of pages) {
        const head = yield* inlet.call("HEAD", path)
        assert.strictEqual(head.status, 200)
        assert.strictEqual(head.text, "")
        assert.strictEqual((yield* inlet.call("POST", path)).status, 405)
      }
      assert.strictEqual((yield* inlet.call("GET", "/assets/..%2f..%2fSettings.ts")).status, 404)
    })
  )
})
