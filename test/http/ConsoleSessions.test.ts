import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { CallOptions, Method } from "../../src/testing/ApiCall.ts"
import { eventually } from "../Eventually.ts"
import { TestInlet } from "../TestInlet.ts"

const own = { "x-inlet-console": "1", "sec-fetch-site": "same-origin" }

/** A browser: calls the API with the cookies that it was given. */
const browser = Effect.gen(function* () {
  const inlet = yield* TestInlet
  const cookies = new Map<string, string>()
  const call = (method: Method, path: string, { headers = {}, ...options }: CallOptions = {}) =>
    Effect.map(
      inlet.call(method, path, {
        ...options,
        headers: {
          ...own,
          "user-agent": "Browser 1",
          ...(cookies.size === 0 ? {} : { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") }),
          ...headers
        }
      }),
      (answer) => {
        const set = /^(\w+)=([^;]*)/.exec(answer.headers["set-cookie"] ?? "")
        if (set !== null) cookies.set(set[1] ?? "", set[2] ?? "")
        return answer
      }
    )
  const signIn = (key: string) => call("POST", "/api/console/session", { body: { key } })
  return { call, cookies, signIn }
})

layer(TestInlet.layer({ ADMIN_TOKEN: "operator-token" }), { excludeTestServices: true })("A console session", (it) => {
  it.effect("opens with an API key, as a cookie that scripts and other sites cannot use", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { call, signIn } = yield* browser
      const { key } = yield* inlet.workspace
      const { headers, json, status } = yield* signIn(key)
      assert.deepStrictEqual([status, json], [201, { operator: false }])
      assert.match(
        headers["set-cookie"] ?? "",
        /^inlet_console=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Strict$/
      )
      assert.strictEqual((yield* call("GET", "/api/domains")).status, 200)
      const { json: state } = yield* call("GET", "/api/console/state")
      assert.deepInclude(state.workspace, { name: "test", scope: "full" })
      assert.strictEqual(state.operator, false)
    })
  )

  it.effect("is refused for a wrong key, and opens nothing", () =>
    Effect.gen(function* () {
      const { call, cookies, signIn } = yield* browser
      assert.strictEqual((yield* signIn("ak_live_wrong")).status, 401)
      assert.strictEqual(cookies.size, 0)
      assert.strictEqual((yield* call("GET", "/api/domains")).status, 401)
    })
  )

  it.effect("changes nothing for a request from another site, or without the console's header", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { call, signIn } = yield* browser
      const { key } = yield* inlet.workspace
      yield* signIn(key)
      const forged: ReadonlyArray<Readonly<Record<string, string>>> = [
        { "sec-fetch-site": "cross-site" },
        { "sec-fetch-site": "same-site" },
        { "sec-fetch-site": "none" },
        { "sec-fetch-site": "same-origin", "x-inlet-console": "" }
      ]
      for (const headers of forged) {
        const { status } = yield* call("POST", "/api/instant-inbox", { headers })
        assert.strictEqual(status, 403, JSON.stringify(headers))
        assert.strictEqual((yield* call("POST", "/api/console/session", { headers, body: { key } })).status, 403)
      }
      assert.deepStrictEqual((yield* call("GET", "/api/domains")).json.domains, [])
      assert.strictEqual((yield* call("POST", "/api/instant-inbox")).status, 201)
    })
  )

  it.effect("is refused with 409 for a page that shows another workspace, and reads and changes nothing there", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { call, cookies, signIn } = yield* browser
      const [shown, other] = [yield* inlet.workspace, yield* inlet.workspace]
      yield* signIn(other.key)
      const headers = { "x-inlet-console": shown.id }
      const error = "You are signed in to another workspace in this browser. Reload the page"
      const read = yield* call("GET", "/api/domains", { headers })
      assert.deepStrictEqual([read.status, read.json], [409, { error }])
      for (const path of ["/api/instant-inbox", "/api/workspaces/rotate-key"]) {
        assert.strictEqual((yield* call("POST", path, { headers })).status, 409, path)
      }
      assert.deepStrictEqual((yield* inlet.call("GET", "/api/domains", { key: other.key })).json.domains, [])
      const own = yield* call("POST", "/api/instant-inbox", { headers: { "x-inlet-console": other.id } })
      assert.strictEqual(own.status, 201)
      // An API key says by itself which workspace it opens.
      const cookie = `inlet_console=${cookies.get("inlet_console")}`
      const withKey = yield* inlet.call("GET", "/api/domains", { key: shown.key, headers: { ...headers, cookie } })
      assert.strictEqual(withKey.status, 200)
    })
  )

  it.effect("of a browser without Sec-Fetch-Site is checked by its Origin", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { cookies, signIn } = yield* browser
      const { key } = yield* inlet.workspace
      yield* signIn(key)
      const cookie = `inlet_console=${cookies.get("inlet_console")}`
      const post = (headers: Readonly<Record<string, string>>) =>
        Effect.map(
          inlet.call("POST", "/api/instant-inbox", { headers: { cookie, "x-inlet-console": "1", ...headers } }),
          ({ status }) => status
        )
      assert.strictEqual(yield* post({}), 403)
      assert.strictEqual(yield* post({ origin: "https://attacker.example" }), 403)
      assert.strictEqual(yield* post({ origin: "null" }), 403)
      assert.strictEqual(yield* post({ origin: inlet.url }), 201)
    })
  )

  it.effect("with a read key sees and does not change, and ends with its key", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { call, signIn } = yield* browser
      const { domainId, key } = yield* inlet.inbox()
      const { json: made } = yield* inlet.call("POST", "/api/workspaces/keys", { key, body: { scope: "read" } })
      yield* signIn(made.api_key)
      assert.strictEqual((yield* call("GET", `/api/domains/${domainId}/events`)).status, 200)
      const change = yield* call("POST", `/api/domains/${domainId}/simulate`, { body: { sample: "code" } })
      assert.strictEqual(change.status, 403)
      assert.strictEqual((yield* call("GET", "/api/console/state")).json.workspace.scope, "read")
      yield* inlet.call("DELETE", `/api/workspaces/keys/${made.id}`, { key })
      assert.strictEqual((yield* call("GET", "/api/domains")).status, 401)
      assert.isNull((yield* call("GET", "/api/console/state")).json.workspace)
    })
  )

  it.effect("ends when the API key is replaced, together with unused links", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { call, signIn } = yield* browser
      const { key } = yield* inlet.workspace
      yield* signIn(key)
      const { json } = yield* inlet.call("POST", "/api/console/links", { key })
      yield* inlet.call("POST", "/api/workspaces/rotate-key", { key })
      const { json: refused, status } = yield* call("GET", "/api/domains")
      assert.deepStrictEqual([status, refused], [401, { error: "This session has ended. Sign in again at /console" }])
      const link = new URL(json.url).hash.replace("#link=", "")
      assert.strictEqual((yield* call("POST", "/api/console/session", { body: { link } })).status, 401)
    })
  )

  it.effect("opens once with a link of the command line, whose token is in the fragment", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { call } = yield* browser
      const { key } = yield* inlet.workspace
      const { json, status } = yield* inlet.call("POST", "/api/console/links", { key })
      assert.strictEqual(status, 201)
      assert.match(json.url, /^http:\/\/localhost:\d+\/console\/sign-in#link=[\w-]{43}$/)
      const link = new URL(json.url).hash.replace("#link=", "")
      assert.strictEqual((yield* call("POST", "/api/console/session", { body: { link } })).status, 201)
      assert.strictEqual((yield* call("GET", "/api/domains")).status, 200)
      const again = yield* call("POST", "/api/console/session", { body: { link } })
      assert.deepStrictEqual(
        [again.status, again.json.error],
        [401, "This link was used or is older than 60 s. Run `inlet console` again"]
      )
    })
  )

  it.effect("does not open with a link older than a minute", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const { call } = yield* browser
      const { key } = yield* inlet.workspace
      const { json } = yield* inlet.call("POST", "/api/console/links", { key })
      yield* sql`UPDATE console_links SET expires_at = now() - interval '1 second'`
      const link = new URL(json.url).hash.replace("#link=", "")
      assert.strictEqual((yield* call("POST", "/api/console/session", { body: { link } })).status, 401)
    })
  )

  it.effect("ends after twelve hours without a request, and is not used meanwhile by a request in time", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const { call, signIn } = yield* browser
      const { id, key } = yield* inlet.workspace
      yield* signIn(key)
      const age = (hours: number) =>
        sql`UPDATE console_sessions SET last_used_at = now() - make_interval(hours => ${hours}) WHERE workspace_id = ${id}`
      yield* age(11)
      assert.strictEqual((yield* call("GET", "/api/domains")).status, 200)
      // The request moved the end of the session.
      yield* eventually(
        sql<{ readonly isFresh: boolean }>`
            SELECT last_used_at > now() - interval '1 minute' AS is_fresh FROM console_sessions WHERE workspace_id = ${id}
          `,
        ([row]) => row?.isFresh === true
      )
      yield* age(13)
      assert.strictEqual((yield* call("GET", "/api/domains")).status, 401)
    })
  )

  it.effect("is listed with its browser, revoked by id, and ended by signing out", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const [first, second] = [yield* browser, yield* browser]
      const { key } = yield* inlet.workspace
      yield* first.signIn(key)
      yield* second.signIn(key)
      const { json } = yield* first.call("GET", "/api/console/sessions")
      assert.deepStrictEqual(
        json.sessions.map(({ browser, current, scope }: Record<string, unknown>) => [browser, current, scope]),
        [
          ["Browser 1", false, "full"],
          ["Browser 1", true, "full"]
        ]
      )
      const [other] = json.sessions
      assert.strictEqual((yield* first.call("DELETE", `/api/console/sessions/${other.id}`)).status, 204)
      assert.strictEqual((yield* second.call("GET", "/api/domains")).status, 401)
      assert.strictEqual((yield* first.call("DELETE", `/api/console/sessions/${other.id}`)).status, 404)
      assert.strictEqual((yield* first.call("DELETE", "/api/console/session")).status, 204)
      assert.strictEqual((yield* first.call("GET", "/api/domains")).status, 401)
    })
  )

  it.effect("is not seen or revoked by another workspace", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const [mine, theirs] = [yield* browser, yield* browser]
      yield* mine.signIn((yield* inlet.workspace).key)
      yield* theirs.signIn((yield* inlet.workspace).key)
      const { json } = yield* theirs.call("GET", "/api/console/sessions")
      assert.lengthOf(json.sessions, 1)
      assert.strictEqual((yield* mine.call("DELETE", `/api/console/sessions/${json.sessions[0].id}`)).status, 404)
    })
  )

  it.effect(
    "of a signed-in browser is replaced by a new one at each sign-in, so a planted cookie is worth nothing",
    () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { call, cookies, signIn } = yield* browser
        cookies.set("inlet_console", "a".repeat(43))
        assert.strictEqual((yield* call("GET", "/api/domains")).status, 401)
        yield* signIn((yield* inlet.workspace).key)
        assert.notStrictEqual(cookies.get("inlet_console"), "a".repeat(43))
      })
  )

  it.effect("with the operator's token opens the operator's routes, and no workspace", () =>
    Effect.gen(function* () {
      const { call, cookies, signIn } = yield* browser
      const { json } = yield* signIn("operator-token")
      assert.deepStrictEqual(json, { operator: true })
      assert.sameMembers([...cookies.keys()], ["inlet_operator"])
      assert.strictEqual((yield* call("GET", "/admin/status")).status, 200)
      assert.strictEqual((yield* call("GET", "/admin/workspaces")).status, 200)
      assert.strictEqual((yield* call("GET", "/api/domains")).status, 401)
      const forged = { "sec-fetch-site": "cross-site" }
      assert.strictEqual((yield* call("DELETE", "/admin/domains/x.example", { headers: forged })).status, 403)
      yield* call("DELETE", "/api/console/session")
      assert.strictEqual((yield* call("GET", "/admin/status")).status, 404)
    })
  )
})

layer(TestInlet.layer({ ADMIN_TOKEN: "operator-token", WORKSPACE_CREATION: "admin" }), {
  excludeTestServices: true
})("With WORKSPACE_CREATION=admin", (it) => {
  it.effect("only the operator creates workspaces, by token or by console session", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { call, signIn } = yield* browser
      const body = { name: "new" }
      const refused = yield* inlet.call("POST", "/api/workspaces", { body })
      assert.strictEqual(refused.status, 403)
      assert.match(refused.json.error, /^Only the operator creates workspaces here\. Send `Authorization: Bearer/)
      assert.strictEqual((yield* inlet.call("POST", "/api/workspaces", { body, key: "other" })).status, 403)
      assert.strictEqual((yield* inlet.call("POST", "/api/demo/inbox")).status, 403)
      assert.strictEqual((yield* inlet.call("POST", "/api/workspaces", { body, key: "operator-token" })).status, 201)
      yield* signIn("operator-token")
      assert.strictEqual((yield* call("POST", "/api/workspaces", { body })).status, 201)
      assert.strictEqual((yield* call("GET", "/api/console/state")).json.workspace_creation, "admin")
    })
  )
})
