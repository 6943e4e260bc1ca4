import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Ask } from "../../src/sender/SenderDns.ts"
import * as Spf from "../../src/sender/Spf.ts"

const client: Spf.Client = { ip: "192.0.2.1", helo: "mail.sender.example", sender: "ada@sender.example" }

/** A name server with cached answers, as in Inlet, that counts queries. */
const zone = (records: { readonly [name: string]: string }) => {
  const answers = new Map<string, Promise<unknown>>(
    Object.entries(records).map(([name, record]) => [name, Promise.resolve([[record]])])
  )
  const asked: Array<string> = []
  const nobody = Promise.reject(Object.assign(new Error("not found"), { code: "ENOTFOUND" }))
  nobody.catch(() => undefined)
  const ask: Ask = (name) => {
    asked.push(name)
    return answers.get(name) ?? nobody
  }
  return { ask, asked, put: (name: string, answer: Promise<unknown>) => void answers.set(name, answer) }
}

const records = {
  "sender.example": "v=spf1 include:servers.example -all",
  "servers.example": "v=spf1 ip4:192.0.2.0/24 -all"
}

const find = (spf: Spf.Find, ask: Ask, who = client) => Effect.promise(() => spf(ask, who))

describe("The SPF result of a client", () => {
  it.effect("is cached while DNS gives the same answers to its queries", () =>
    Effect.gen(function* () {
      const { ask, asked } = zone(records)
      const spf = Spf.make("mx.inlet.test")
      const first = yield* find(spf, ask)
      assert.strictEqual(first.result, "pass")
      const questions = [...asked]
      assert.deepStrictEqual(questions, ["sender.example", "servers.example"])
      // The same object: nothing was evaluated.
      assert.strictEqual(yield* find(spf, ask), first)
      assert.deepStrictEqual(asked.slice(questions.length), questions)
    })
  )

  it.effect("is permerror for a policy of more than 4 KiB, or for more than 500 records", () =>
    Effect.gen(function* () {
      const long = zone({ ...records, "servers.example": `v=spf1 ${"a= ".repeat(2_000)}-all` })
      assert.strictEqual((yield* find(Spf.make("mx.inlet.test"), long.ask)).result, "permerror")
      const many = zone(records)
      many.put("sender.example", Promise.resolve(Array.from({ length: 501 }, () => ["v=spf1 -all"])))
      assert.strictEqual((yield* find(Spf.make("mx.inlet.test"), many.ask)).result, "permerror")
    })
  )

  it.effect("is evaluated again if one answer at any depth changes", () =>
    Effect.gen(function* () {
      const { ask, put } = zone(records)
      const spf = Spf.make("mx.inlet.test")
      assert.strictEqual((yield* find(spf, ask)).result, "pass")
      put("servers.example", Promise.resolve([["v=spf1 ip4:198.51.100.0/24 -all"]]))
      assert.strictEqual((yield* find(spf, ask)).result, "fail")
      const failure = Promise.reject(Object.assign(new Error("no answer"), { code: "ESERVFAIL" }))
      failure.catch(() => undefined)
      put("servers.example", failure)
      const failed = yield* find(spf, ask)
      assert.strictEqual(failed.result, "temperror")
      // A failure is also an answer while it is cached.
      assert.strictEqual(yield* find(spf, ask), failed)
      put("servers.example", Promise.resolve([[records["servers.example"]]]))
      assert.strictEqual((yield* find(spf, ask)).result, "pass")
    })
  )

  it.effect("is not shared with another address, HELO name or sender", () =>
    Effect.gen(function* () {
      const { ask } = zone({ ...records, "sender.example": "v=spf1 exists:%{l}.%{h}.known.example ip4:192.0.2.1 -all" })
      const spf = Spf.make("mx.inlet.test")
      const first = yield* find(spf, ask)
      assert.strictEqual(first.result, "pass")
      assert.strictEqual((yield* find(spf, ask, { ...client, ip: "192.0.2.2" })).result, "fail")
      const other = yield* find(spf, ask, { ...client, sender: "bob@sender.example" })
      assert.include(other.info, "bob@sender.example")
      const bounce = { ...client, sender: "" }
      assert.include((yield* find(spf, ask, bounce)).info, "mail.sender.example")
      assert.include((yield* find(spf, ask, { ...bounce, helo: "other.example" })).info, "other.example")
      assert.strictEqual(yield* find(spf, ask), first)
    })
  )

  it.effect("is cached for 1,000 clients, and not for a policy with many names", () =>
    Effect.gen(function* () {
      const names = Array.from(
        { length: 5 },
        (_, number) => `${`${number}`.repeat(60)}.${"x".repeat(60)}.${"y".repeat(60)}.example`
      )
      const policies = names.map((name, index) => [
        name,
        `v=spf1 ${index === 4 ? "" : `include:${names[index + 1]} `}-all`
      ])
      const { ask } = zone({
        ...records,
        "many.example": `v=spf1 include:${names[0]} -all`,
        ...Object.fromEntries(policies)
      })
      const spf = Spf.make("mx.inlet.test")
      const many = { ...client, sender: "ada@many.example" }
      const once = yield* find(spf, ask, many)
      const again = yield* find(spf, ask, many)
      assert.deepStrictEqual(again, once)
      assert.notStrictEqual(again, once)

      const first = yield* find(spf, ask)
      const others = Array.from({ length: 1_000 }, (_, number) => ({ ...client, sender: `${number}@sender.example` }))
      yield* Effect.forEach(others.slice(1), (other) => find(spf, ask, other), { discard: true })
      assert.strictEqual(yield* find(spf, ask), first)
      yield* find(spf, ask, { ...client, sender: "0@sender.example" })
      yield* find(spf, ask, { ...client, sender: "1000@sender.example" })
      assert.notStrictEqual(yield* find(spf, ask), first)
    })
  )

  it.effect("sends each query once for a message, so that the query limit allows a new evaluation", () =>
    Effect.gen(function* () {
      const hosts = Array.from({ length: 20 }, (_, number) => `h${number}.sender.example`)
      const servers = ["a", "b"].map((name) => `${name}.sender.example`)
      const answers = new Map<string, () => unknown>([
        ["TXT sender.example", () => [[`v=spf1 ${servers.map((name) => `mx:${name}`).join(" ")} -all`]]],
        ...servers.map((name, index): [string, () => unknown] => [
          `MX ${name}`,
          () => hosts.slice(index * 10, index * 10 + 10).map((exchange) => ({ priority: 10, exchange }))
        ]),
        ...hosts.map((name, index): [string, () => unknown] => [`A ${name}`, () => [`192.0.2.${index}`]])
      ])
      const spf = Spf.make("mx.inlet.test")
      for (const _ of ["first", "when all answers are new", "and again"]) {
        let asked = 0
        // Other objects than before, as after they expired.
        const ask: Ask = (name, type) => {
          asked++
          return Promise.resolve(answers.get(`${type} ${name}`)?.())
        }
        assert.strictEqual((yield* find(spf, ask, { ...client, ip: "192.0.2.19" })).result, "pass")
        assert.strictEqual(asked, 23)
      }
    })
  )
})
