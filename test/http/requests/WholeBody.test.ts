import { request } from "node:http"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { eventually } from "../../Eventually.ts"
import * as Mailbox from "../../Mailbox.ts"
import { TestInlet } from "../../TestInlet.ts"

interface Sent {
  readonly method: "POST" | "PATCH"
  readonly path: string
  readonly key?: string
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends a request but its last byte. `finished` sends that, and is the answer's status. */
const begun = Effect.fnUntraced(function* ({ body, headers, key, method, path }: Sent) {
  const inlet = yield* TestInlet
  let status: number | undefined
  const sending = yield* Effect.acquireRelease(
    Effect.sync(() =>
      request(`${inlet.url}${path}`, {
        method,
        headers: {
          ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
          "content-type": "application/json",
          "content-length": Buffer.byteLength(body),
          ...headers
        }
      })
    ),
    (sending) => Effect.sync(() => sending.destroy())
  )
  sending.on("error", () => {})
  sending.on("response", (response) => {
    status = response.statusCode
    response.resume()
  })
  sending.write(body.slice(0, -1))
  // Time to look the key up.
  yield* Effect.sleep("500 millis")
  return {
    finished: Effect.gen(function* () {
      // The look becomes old, also if it came late.
      yield* Effect.sleep("150 millis")
      sending.end(body.slice(-1))
      return yield* eventually(
        Effect.sync(() => status),
        (status) => status !== undefined
      )
    })
  }
})

layer(TestInlet.layer({ ADMIN_TOKEN: "operator-token" }), { excludeTestServices: true })(
  "A request whose key is replaced before its body is whole",
  (it) => {
    it.effect("is refused on every kind of route, and does nothing", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { domain, domainId, key } = yield* inlet.inbox()
        const json = (method: "POST" | "PATCH", path: string, body: unknown): Sent => ({
          method,
          path,
          key,
          body: JSON.stringify(body)
        })
        const requests = yield* Effect.forEach(
          [
            json("POST", "/api/workspaces/keys", { scope: "read", name: "backdoor" }),
            json("POST", "/api/workspaces/rotate-key", {}),
            json("PATCH", "/api/workspace", { opsWebhookUrl: "https://other.example/ops" }),
            json("PATCH", `/api/domains/${domainId}/delivery`, { pull: true }),
            json("POST", `/api/domains/${domainId}/simulate`, { text: "hello" }),
            json("POST", "/mcp", { jsonrpc: "2.0", id: 1, method: "ping" }),
            {
              ...json("POST", `/api/domains/${domainId}/ingest?recipient=a@${domain}&from=b@c.example`, {}),
              body: "Subject: late\r\n\r\nhello",
              headers: { "content-type": "message/rfc822" }
            }
          ],
          begun,
          { concurrency: "unbounded" }
        )
        const { json: rotated } = yield* inlet.call("POST", "/api/workspaces/rotate-key", { key })
        const statuses = yield* Effect.forEach(requests, ({ finished }) => finished)
        assert.deepStrictEqual(
          statuses,
          requests.map(() => 401)
        )

        const owner = { key: rotated.api_key, domainId }
        const keys = yield* inlet.call("GET", "/api/workspaces/keys", owner)
        assert.deepStrictEqual([keys.status, keys.json.keys], [200, []])
        assert.isNull((yield* inlet.call("GET", "/api/workspace", owner)).json.opsWebhookUrl)
        assert.deepStrictEqual(yield* Mailbox.events(owner), [])
      })
    )

    it.effect("is refused with a revoked key beside the workspace's own", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { domain, domainId, key } = yield* inlet.inbox()
        const made = yield* inlet.call("POST", "/api/workspaces/keys", { key, body: { scope: "ingest" } })
        const mail = yield* begun({
          method: "POST",
          path: `/api/domains/${domainId}/ingest?recipient=a@${domain}&from=b@c.example`,
          key: made.json.api_key,
          body: "Subject: late\r\n\r\nhello",
          headers: { "content-type": "message/rfc822" }
        })
        yield* inlet.call("DELETE", `/api/workspaces/keys/${made.json.id}`, { key })
        assert.strictEqual(yield* mail.finished, 401)
        assert.deepStrictEqual(yield* Mailbox.events({ domainId, key }), [])
      })
    )

    it.effect("is refused with the cookie of a session that was signed out, also of the operator's", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { domain, domainId, key } = yield* inlet.inbox()
        const own = { "x-inlet-console": "1", "sec-fetch-site": "same-origin" }
        const withCookie = Effect.fnUntraced(function* (key: string) {
          const { headers } = yield* inlet.call("POST", "/api/console/session", { body: { key }, headers: own })
          return { ...own, cookie: `${headers["set-cookie"]}`.replace(/;.*/, "") }
        })
        const signedOut = Effect.fnUntraced(function* (key: string, sent: Pick<Sent, "path" | "body">) {
          const headers = yield* withCookie(key)
          const { finished } = yield* begun({ method: "POST", headers, ...sent })
          yield* inlet.call("DELETE", "/api/console/session", { headers })
          return yield* finished
        })
        const body = JSON.stringify({ scope: "read", name: "backdoor" })
        assert.strictEqual(yield* signedOut(key, { path: "/api/workspaces/keys", body }), 401)
        assert.strictEqual(
          yield* signedOut("operator-token", { path: `/admin/domains/${domain}/disable`, body: "{}" }),
          404
        )
        assert.deepStrictEqual((yield* inlet.call("GET", "/api/workspaces/keys", { key })).json.keys, [])
        assert.notStrictEqual((yield* inlet.call("GET", `/api/domains/${domainId}`, { key })).json.status, "disabled")
      })
    )

    it.effect("serves one of several replacements at once, and refuses the others", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { key } = yield* inlet.workspace
        const answers = yield* Effect.replicateEffect(inlet.call("POST", "/api/workspaces/rotate-key", { key }), 8, {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(answers.map(({ status }) => status).toSorted(), [200, ...Array(7).fill(401)])
        const [winner] = answers.filter(({ status }) => status === 200)
        assert.strictEqual((yield* inlet.call("GET", "/api/workspace", { key: winner?.json.api_key })).status, 200)
      })
    )
  }
)
