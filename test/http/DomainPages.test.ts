import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as ManyDomains from "../ManyDomains.ts"
import { TestInlet } from "../TestInlet.ts"

const operator = "the operator's token"

interface Listed {
  readonly id: string
  readonly domain: string
}

const list = Effect.fnUntraced(function* (path: string, key: string) {
  const inlet = yield* TestInlet
  const { json, status } = yield* inlet.call("GET", path, { key })
  return { status, json, names: (json.domains as ReadonlyArray<Listed> | undefined)?.map(({ domain }) => domain) }
})

layer(TestInlet.layer({ ADMIN_TOKEN: operator, MAX_DOMAINS_PER_WORKSPACE: "0" }), {
  excludeTestServices: true
})("The list of domains", (it) => {
  it.effect("has 100 domains a page, newest first, with a cursor for older ones", () =>
    Effect.gen(function* () {
      const { key, name } = yield* ManyDomains.workspaceWith(205)
      const first = yield* list("/api/domains", key)
      assert.deepStrictEqual(
        first.names,
        Array.from({ length: 100 }, (_, index) => `${205 - index}.${name}`)
      )
      const second = yield* list(`/api/domains?cursor=${first.json.next_cursor}`, key)
      const third = yield* list(`/api/domains?cursor=${second.json.next_cursor}&limit=50`, key)
      assert.deepStrictEqual(third.names, [`5.${name}`, `4.${name}`, `3.${name}`, `2.${name}`, `1.${name}`])
      assert.isNull(third.json.next_cursor)
    })
  )

  it.effect("finds a domain by its name in any spelling, and domains by a part of it", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { key, name } = yield* ManyDomains.workspaceWith(12)
      yield* inlet.call("POST", "/api/domains", { key, body: { domain: "bücher.example" } })
      assert.deepStrictEqual((yield* list(`/api/domains?domain=1.${name.toUpperCase()}.`, key)).names, [`1.${name}`])
      assert.deepStrictEqual((yield* list("/api/domains?domain=b%C3%BCcher.example", key)).names, [
        "xn--bcher-kva.example"
      ])
      assert.deepStrictEqual((yield* list(`/api/domains?domain=${name}`, key)).names, [])
      assert.deepStrictEqual((yield* list(`/api/domains?search=1.${name}`, key)).names, [`11.${name}`, `1.${name}`])
      const [newest, older] = [
        yield* list(`/api/domains?search=1.${name}&limit=1`, key),
        yield* list(`/api/domains?search=BCHER`, key)
      ]
      assert.deepStrictEqual([newest.names, older.names], [[`11.${name}`], ["xn--bcher-kva.example"]])
      assert.deepStrictEqual((yield* list("/api/domains?search=b%C3%BCcher", key)).names, ["xn--bcher-kva.example"])
      assert.isNotNull(newest.json.next_cursor)
      assert.deepStrictEqual((yield* list("/api/domains?takes_mail=true", key)).names, [`1.${name}`])
      // No pattern of SQL.
      assert.deepStrictEqual((yield* list("/api/domains?search=%25", key)).names, [])
    })
  )

  it.effect("has only the domains of the workspace, and of a key for one domain only that one", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { key, name } = yield* ManyDomains.workspaceWith(3)
      const other = yield* ManyDomains.workspaceWith(3)
      const [newest] = (yield* list("/api/domains", key)).json.domains as ReadonlyArray<Listed>
      assert.deepStrictEqual((yield* list(`/api/domains?search=${other.name}`, key)).names, [])
      const made = yield* inlet.call("POST", "/api/workspaces/keys", {
        key,
        body: { scope: "read", pattern: "agent", domain_id: newest?.id }
      })
      const limited: string = made.json.api_key
      assert.deepStrictEqual((yield* list("/api/domains", limited)).names, [newest?.domain])
      assert.deepStrictEqual((yield* list(`/api/domains?search=2.${name}`, limited)).names, [])
    })
  )

  it.effect("refuses a cursor, a limit, a name and a search that it can't use", () =>
    Effect.gen(function* () {
      const { key } = yield* ManyDomains.workspaceWith(1)
      for (const [query, message] of [
        ["cursor=x", "cursor: Expected the next_cursor of an earlier page of this list"],
        ["limit=0", "limit: Expected a whole number from 1 to 100"],
        ["limit=101", "limit: Expected a whole number from 1 to 100"],
        ["takes_mail=false", "takes_mail: Expected true"],
        ["domain=a@b", "domain: Expected a domain name such as mail.example.com"],
        ["search=", "search: Expected 1 to 200 characters, without control characters"],
        ["search=a%00", "search: Expected 1 to 200 characters, without control characters"]
      ]) {
        const { json, status } = yield* list(`/api/domains?${query}`, key)
        assert.deepStrictEqual([status, json], [400, { error: message }], query)
      }
    })
  )

  it.effect("tells the operator whose a domain is, and whether another workspace holds the name", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { name, workspaceId } = yield* ManyDomains.workspaceWith(2)
      const other = yield* ManyDomains.workspaceWith(1)
      yield* inlet.call("POST", "/api/domains", { key: other.key, body: { domain: `1.${name}` } })
      const { json } = yield* list(`/admin/domains?search=${name}`, operator)
      const facts = (json.domains as ReadonlyArray<Readonly<Record<string, unknown>>>).map((domain) => [
        domain.domain,
        domain.workspace_id,
        domain.held_by_another
      ])
      assert.deepStrictEqual(facts, [
        [`1.${name}`, other.workspaceId, true],
        [`2.${name}`, workspaceId, false],
        [`1.${name}`, workspaceId, false]
      ])
      const first = yield* list(`/admin/domains?search=${name}&limit=2`, operator)
      const second = yield* list(`/admin/domains?search=${name}&limit=2&cursor=${first.json.next_cursor}`, operator)
      assert.deepStrictEqual(second.names, [`1.${name}`])
      assert.isNull(second.json.next_cursor)
      yield* inlet.call("POST", "/api/demo/inbox")
      const [demo] = (yield* list("/admin/domains?limit=1", operator)).json.domains
      assert.deepInclude(demo, { origin: "demo", workspace_id: null, workspace: null })
    })
  )
})
