import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as SenderDns from "../../src/sender/SenderDns.ts"
import { DnsServer } from "../DnsServer.ts"
import { heldBytes } from "../HeldBytes.ts"

const mails = 40
const fields = "X-Field: something that a header is full of\r\n".repeat(5_000)

/** A name as in a header. */
const nameIn = (number: number): string => {
  const header = Buffer.from(`${fields}signer-number-${number}.sender.example`).toString()
  return header.slice(fields.length)
}

describe("The DNS cache of sender checks", () => {
  // The server does not exist, and failures are cached too.
  it.live("caches the answers for a name without retaining its header", () =>
    Effect.gen(function* () {
      const questions = SenderDns.make(["127.0.0.1:9"])
      const ask = (number: number) =>
        Effect.promise(() =>
          questions()(nameIn(number), "TXT").then(
            () => false,
            () => true
          )
        )
      assert.isTrue(yield* ask(-1))
      const before = yield* heldBytes
      const failed = yield* Effect.forEach(Array.from({ length: mails }).keys(), ask, { concurrency: 8 })
      assert.isTrue(failed.every((is) => is))
      assert.isBelow((yield* heldBytes) - before, (mails * fields.length) / 10)
    })
  )

  it.effect("queries no name above the maximum length", () =>
    Effect.gen(function* () {
      const ask = SenderDns.make(["127.0.0.1:9"])()
      const failed = yield* Effect.promise(() =>
        ask(`${"x".repeat(60_000)}._domainkey.sender.example`, "TXT").then(
          () => undefined,
          (error: unknown) => error
        )
      )
      assert.propertyVal(failed, "code", "EBADNAME")
      assert.isBelow(String(failed).length, 100)
    })
  )

  it.live("waits 5 s for all queries of a message together, and uses later answers for the next one", () =>
    Effect.gen(function* () {
      const dns = yield* DnsServer
      const silent = ["one.example", "two.example", "three.example", "four.example", "five.example"]
      for (const name of silent) yield* dns.answer("TXT", name, "silence")
      yield* dns.answer("TXT", "known.example", { text: ["words"] })
      const questions = SenderDns.make([dns.server])
      const ask = questions()
      const words = (name: string) =>
        Effect.promise(() =>
          ask(name, "TXT").then(
            (records) => records,
            (error: unknown) => error
          )
        )
      yield* words("known.example")
      const started = performance.now()
      for (const name of silent) {
        assert.propertyVal(yield* words(name), "code", "ETIMEOUT")
      }
      const took = performance.now() - started
      assert.isAbove(took, 4_500)
      // Each query alone is given up after 3 s.
      assert.isBelow(took, 12_000)
      assert.deepStrictEqual(yield* words("known.example"), [["words"]])
    }).pipe(Effect.provide(DnsServer.layer))
  )

  it.live("caches at most 16 MiB of answers of any size", () =>
    Effect.gen(function* () {
      const dns = yield* DnsServer
      yield* dns.answer("TXT", "*.large.example", { text: [Array.from({ length: 240 }, () => "x".repeat(250))] })
      const questions = SenderDns.make([dns.server])
      const ask = (number: number) => Effect.promise(() => questions()(`name-${number}.large.example`, "TXT"))
      yield* ask(-1)
      const before = yield* heldBytes
      // 26 MB of answers.
      yield* Effect.forEach(Array.from({ length: 440 }).keys(), ask, { discard: true })
      assert.isBelow((yield* heldBytes) - before, 19_000_000)
      const asked = dns.asked("TXT", "name-439.large.example")
      const times = yield* asked
      yield* ask(439)
      assert.strictEqual(yield* asked, times)
    }).pipe(Effect.provide(DnsServer.layer))
  )
})
