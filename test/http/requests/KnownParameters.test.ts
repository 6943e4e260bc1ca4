import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Answer } from "../../ApiCall.ts"
import { TestInlet } from "../../TestInlet.ts"

const uuid = "01890000-0000-7000-8000-000000000000"

const open = ["/health", "/ready", "/metrics", "/docs", "/llms.txt", "/openapi.json", "/", "/purchase/success"]

const refused = ({ json, status }: Answer, message: RegExp, what = "") => {
  assert.strictEqual(status, 400, what)
  assert.deepStrictEqual(Object.keys(json), ["error"])
  assert.match(json.error, message, what)
}

layer(TestInlet.layer(), { excludeTestServices: true })("A query parameter", (it) => {
  it.effect("that is unknown answers 400 on every API route with the known ones", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { key } = yield* inlet.workspace
      const demo = yield* inlet.call("POST", "/api/demo/inbox")
      const headers = { cookie: (demo.headers["set-cookie"] ?? "").replace(/;.*/s, "") }
      const { json } = yield* inlet.call("GET", "/openapi.json")
      let asked = 0
      for (const [template, operations] of Object.entries<Readonly<Record<string, Answer["json"]>>>(json.paths)) {
        if (!template.startsWith("/api/") || template === "/api/webhooks/stripe") continue
        const path = template.replace("{index}", "0").replace(/\{\w+\}/g, uuid)
        for (const [method, { parameters = [] }] of Object.entries(operations)) {
          const verb = method.toUpperCase() as "GET"
          const known = parameters
            .filter((parameter: { readonly in: string }) => parameter.in === "query")
            .map(({ name }: { readonly name: string }) => name)
            .join(", ")
          const answer = yield* inlet.call(verb, `${path}?recipent=a%40b.example`, { key, headers })
          refused(answer, /^recipent: Unknown query parameter; this route has /, `${verb} ${path}`)
          assert.isTrue(
            answer.json.error.endsWith(known === "" ? "none" : known),
            `${verb} ${path}: ${answer.json.error}`
          )
          asked++
        }
      }
      assert.isAbove(asked, 20)
    })
  )

  it.effect("that is unknown prevents the request: no workspace is created, no domain removed", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      refused(yield* inlet.call("POST", "/api/workspaces?dry_run=1", { body: { name: "a" } }), /^dry_run: /)
      const { domainId, key } = yield* inlet.inbox()
      refused(yield* inlet.call("DELETE", `/api/domains/${domainId}?dry_run=1`, { key }), /^dry_run: .* none$/)
      assert.strictEqual((yield* inlet.call("GET", `/api/domains/${domainId}`, { key })).status, 200)
    })
  )

  it.effect("that is known is accepted once", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { domainId, key } = yield* inlet.inbox()
      const path = `/api/domains/${domainId}/events?recipient=a&recipient=b`
      refused(yield* inlet.call("GET", path, { key }), /^recipient: Expected it once$/)
    })
  )

  it.effect("that is unknown is answered with a bounded error, after the key is checked", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { key } = yield* inlet.workspace
      for (const name of ["x".repeat(5_000), "%F0%9F%9B%A9".repeat(300), "%00", "%ED%A0%80", "__proto__", "toString"]) {
        const answer = yield* inlet.call("GET", `/api/workspace?${name}=1`, { key })
        refused(answer, /Unknown query parameter; this route has none$/)
        assert.isBelow(answer.json.error.length, 120)
      }
      assert.strictEqual((yield* inlet.call("GET", "/api/workspace?recipent=a")).status, 401)
    })
  )

  it.effect("is ignored on pages and on the routes of monitors and payment providers", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      for (const path of open) {
        assert.strictEqual((yield* inlet.call("GET", `${path}?session_id=cs_test_1&utm=x`)).status, 200, path)
      }
      const { json, status } = yield* inlet.call("POST", "/api/webhooks/stripe?from=stripe", { body: "{}" })
      assert.isTrue(status === 400 || status === 404)
      assert.notMatch(json.error, /query/)
    })
  )
})
