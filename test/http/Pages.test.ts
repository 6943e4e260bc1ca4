import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestInlet } from "../TestInlet.ts"

const pages = ["/", "/purchase/success", "/purchase/cancel"]
const assets = {
  "/assets/inlet.css": "text/css",
  "/assets/reference.css": "text/css",
  "/assets/copy.js": "text/javascript",
  "/assets/demo.js": "text/javascript",
  "/assets/inlet.svg": "image/svg+xml"
}

layer(TestInlet.layer({ SERVICE_PUBLIC_URL: `https://inlet.example.com/a="><b>` }), {
  excludeTestServices: true
})("The pages", (it) => {
  it.effect("are served with their assets under the right types", () =>
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

  it.effect("have a minimal Content-Security-Policy", () =>
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

  it.effect("load nothing from other hosts and have no inline script or style", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      for (const path of pages) {
        const { text } = yield* inlet.call("GET", path)
        assert.notMatch(text, /(?:src|href|action)="(?:https?:)?\/\//)
        assert.notMatch(text, /<style|<script(?![^>]* src=)|\son\w+=|\sstyle=/)
      }
      for (const path of ["/assets/inlet.css", "/assets/copy.js", "/assets/demo.js"]) {
        const { text } = yield* inlet.call("GET", path)
        // The namespace of an element, from which nothing is loaded.
        const own = text.replaceAll("http://www.w3.org/2000/svg", "")
        assert.notMatch(own, /https?:\/\/|innerHTML|outerHTML|insertAdjacentHTML|eval\(/)
      }
    })
  )

  it.effect("contain the public URL in their curl commands as escaped text", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      for (const path of pages) {
        const { text } = yield* inlet.call("GET", path)
        assert.include(text, "https://inlet.example.com/a=&quot;&gt;&lt;b&gt;/api/")
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

  it.effect("answer an unknown path with HTML to browsers, and with JSON to programs and below /api", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const get = (path: string, accept?: string) =>
        inlet.call("GET", path, { headers: accept === undefined ? {} : { accept } })
      const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"
      const page = yield* get("/pricing", browser)
      assert.strictEqual(page.status, 404)
      assert.strictEqual((yield* get("/docs/schemas/Pricing", browser)).text, page.text)
      assert.strictEqual(page.headers["content-type"], "text/html; charset=utf-8")
      assert.include(page.headers["content-security-policy"] ?? "", "default-src 'none'")
      const links = [...page.text.matchAll(/(?:href|src)="(\/[^"]*)"/g)].map(([, link = ""]) => link)
      assert.includeMembers(links, ["/", "/docs", "/llms.txt"])
      for (const link of links) assert.strictEqual((yield* inlet.call("GET", link)).status, 200, link)
      for (const [path, accept] of [
        ["/pricing", undefined],
        ["/pricing", "*/*"],
        ["/docs/pricing", "*/*"],
        ["/pricing", "application/json, text/html;q=0.5"],
        ["/api/pricing", browser],
        ["/api", browser],
        ["/admin/pricing", browser]
      ] as const) {
        const { json, status } = yield* get(path, accept)
        assert.deepStrictEqual(
          [status, json],
          [404, { error: "No such route. GET /llms.txt describes the API, and GET /docs has every route" }],
          path
        )
      }
    })
  )
})

layer(TestInlet.layer({ WORKSPACE_CREATION: "admin" }), { excludeTestServices: true })(
  "The first page of a private service",
  (it) => {
    it.effect("offers no demo and no call that would be refused", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { status, text } = yield* inlet.call("GET", "/")
        assert.strictEqual(status, 200)
        assert.include(text, "This service has no public demo")
        assert.notMatch(text, /demo\.js|api\/workspaces/)
      })
    )
  }
)
