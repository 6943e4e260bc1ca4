import { readFileSync } from "node:fs"
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Config, Effect, FileSystem, Option } from "effect"
import { TestClock } from "effect/testing"
import { dkimSign } from "mailauth"
import * as DkimKey from "../../src/sender/DkimKey.ts"
import type { Ask } from "../../src/sender/SenderDns.ts"
import * as Dice from "../reading/Dice.ts"
import * as Oracle from "../reading/Oracle.ts"
import * as SenderZone from "../reading/SenderZone.ts"
import * as SignedMail from "../reading/SignedMail.ts"

type Verdicts = Awaited<ReturnType<typeof Oracle.whole>>

/** Asserts that both agree byte for byte. Returns whether Inlet's short path applied. */
const same = Effect.fnUntraced(function* (
  mail: SignedMail.SignedMail,
  ask: Ask,
  findKey: DkimKey.Find,
  name: string | number
) {
  const { checked, isOrdinary } = yield* Oracle.ours(mail, ask, findKey)
  const { alignment: _, ...told } = checked
  const whole = withoutAnswer(yield* Effect.promise(() => Oracle.whole(mail, ask)), told)
  assert.deepStrictEqual(told, whole, `${name}: ${JSON.stringify(mail.message.toString("latin1", 0, 4_096))}`)
  return { isOrdinary, dkim: whole.authentication.dkim }
})

/** Where a check has no answer, Inlet has one verdict of DMARC that mailauth has not. */
const withoutAnswer = (whole: Verdicts, told: Verdicts): Verdicts => {
  const { authentication, field } = whole
  if (authentication.dmarc !== "fail" || told.authentication.dmarc !== "temperror") return whole
  assert.match(`${field}`, /(?:spf|dkim)=temperror/)
  const row = `${field}`.replace(/dmarc=fail( \([^)]*\)) policy\.dmarc=\w+/, "dmarc=temperror$1")
  return { ...whole, authentication: { ...authentication, dmarc: "temperror" }, field: row }
}

/** Published keys for foreign messages, if known. */
const published = new Map(
  readFileSync(new URL("../fixtures/dkim-keys.tsv", import.meta.url), "utf8")
    .trimEnd()
    .split("\n")
    .map((line): [string, string] => {
      const [name = "", record = ""] = line.split("\t")
      return [name, record]
    })
)

const askPublished: Ask = (name, type) => {
  const record = type === "TXT" ? published.get(name) : undefined
  return record === undefined ? SenderZone.ask(name, type) : Promise.resolve([[record]])
}

const forms = ["simple/simple", "simple/relaxed", "relaxed/simple", "relaxed/relaxed"]

describe("The sender verdicts", () => {
  it.live(
    "match mailauth for messages signed and changed in every way",
    () =>
      Effect.gen(function* () {
        // ORACLE_RUNS=100000 ORACLE_FROM=1 for all of them.
        const runs = yield* Config.withDefault(Config.Int("ORACLE_RUNS"), 250)
        const from = yield* Config.withDefault(Config.Int("ORACLE_FROM"), 1)
        const findKey = DkimKey.make()
        let ordinary = 0
        let passes = 0
        for (let seed = from; seed < from + runs; seed++) {
          // Every third one is as unusual as possible.
          const mail = yield* Effect.promise(() => SignedMail.make(Dice.make(seed, seed % 3 === 0 ? 1 : 10)))
          const { dkim, isOrdinary } = yield* same(mail, SenderZone.ask, findKey, seed)
          if (isOrdinary) ordinary++
          if (isOrdinary && dkim === "pass") passes++
        }
        // Both of Inlet's paths ran, and the short one to its end.
        assert.isAbove(ordinary, runs / 3)
        assert.isBelow(ordinary, (runs * 2) / 3)
        assert.isAbove(passes, runs / 6)
      }),
    { timeout: 7_200_000 }
  )

  it.effect("are evaluated as of the time of receipt for every reader", () =>
    Effect.gen(function* () {
      const [envelope] = SignedMail.envelopes
      const day = 86_400_000
      const signedAt = 400 * day
      for (const [author, isOurs] of [
        ["Ada <ada@sender.example>", true],
        ["ada@sender.example (Ada)", false]
      ] as const) {
        const mail = `From: ${author}\r\nSubject: Hello\r\n\r\nHello\r\n`
        const signer = {
          signingDomain: "sender.example",
          selector: "r2-good",
          privateKey: SenderZone.privateKey("r2").export({ format: "pem", type: "pkcs8" }).toString()
        }
        const { signatures } = yield* Effect.promise(() =>
          dkimSign(mail, { ...signer, signTime: signedAt, expires: signedAt + day, signatureData: [signer] } as never)
        )
        const message = Buffer.from(`${signatures}${mail}`)
        const verdicts: Array<string> = []
        for (const now of [signedAt + day - 1_000, signedAt + day + 1_000]) {
          yield* TestClock.setTime(now)
          const { checked, isOrdinary } = yield* Oracle.ours({ envelope, message }, SenderZone.ask)
          assert.strictEqual(isOrdinary, isOurs)
          verdicts.push(checked.authentication.dkim)
        }
        assert.deepStrictEqual(verdicts, ["pass", "neutral"], author)
      }
    })
  )

  it.effect("say that DMARC has no answer while the key of the author's domain has none, and not that it fails", () =>
    Effect.gen(function* () {
      const mail = "From: ada@sender.example\r\nSubject: Hello\r\n\r\nHello\r\n"
      const envelope = { from: "eve@other.example", helo: "other.example", remoteAddress: "192.0.2.1" }
      const dmarcOf = Effect.fnUntraced(function* (signingDomain: string, selector: string) {
        const signer = {
          signingDomain,
          selector,
          privateKey: SenderZone.privateKey("r2").export({ format: "pem", type: "pkcs8" }).toString()
        }
        const { signatures } = yield* Effect.promise(() =>
          dkimSign(mail, { ...signer, signatureData: [signer] } as never)
        )
        const { checked } = yield* Oracle.ours(
          { envelope, message: Buffer.from(`${signatures}${mail}`) },
          SenderZone.ask
        )
        return [checked.authentication.dmarc, /dmarc=[^;]*/.exec(`${checked.field}`)?.[0].trim()]
      })
      const row = "(p=REJECT sp=QUARANTINE arc=none)"
      const author = "header.from=sender.example"
      assert.deepStrictEqual(yield* dmarcOf("sender.example", "r2-slow"), [
        "temperror",
        `dmarc=temperror ${row} ${author}`
      ])
      const failed = ["fail", `dmarc=fail ${row} policy.dmarc=reject ${author}`]
      assert.deepStrictEqual(yield* dmarcOf("other.example", "r2-slow"), failed)
      assert.deepStrictEqual(yield* dmarcOf("sender.example", "r2-gone"), failed)
    })
  )

  it.live("match mailauth for foreign messages, as they are and signed anew", () =>
    Effect.gen(function* () {
      const folder = yield* Config.option(Config.String("CORPUS_DIR"))
      if (Option.isNone(folder)) {
        yield* Effect.log("CORPUS_DIR is unset: no foreign messages were checked")
        return
      }
      const fs = yield* FileSystem.FileSystem
      const files = (yield* fs.readDirectory(folder.value, { recursive: true })).filter((name) => name.endsWith(".eml"))
      const [envelope] = SignedMail.envelopes
      const findKey = DkimKey.make()
      let ordinary = 0
      for (const [index, file] of files.entries()) {
        const message = Buffer.from(yield* fs.readFile(`${folder.value}/${file}`))
        yield* same({ envelope, message }, askPublished, findKey, file)
        const sent = Buffer.from(message.toString("latin1").replace(/\r?\n/g, "\r\n"), "latin1")
        const { isOrdinary } = yield* same({ envelope, message: sent }, askPublished, findKey, file)
        if (isOrdinary) ordinary++
        const signer = {
          signingDomain: "sender.example",
          selector: "r2-good",
          privateKey: SenderZone.privateKey("r2").export({ format: "pem", type: "pkcs8" }).toString(),
          canonicalization: forms[index % 4]
        }
        const { signatures } = yield* Effect.promise(() =>
          // The type lacks the canonicalization of each signature.
          dkimSign(sent, { ...signer, signatureData: [signer] } as never)
        )
        const signed = Buffer.concat([Buffer.from(signatures), sent])
        yield* same({ envelope, message: signed }, askPublished, findKey, `${file}, signed`)
      }
      assert.isAbove(ordinary, files.length / 2)
    }).pipe(Effect.provide(NodeServices.layer))
  )
})
