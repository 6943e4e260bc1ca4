import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { Asker } from "../../src/database/Turns.ts"
import type { Unavailable } from "../../src/model/ApiError.ts"
import { RequestReader } from "../../src/reading/RequestReader.ts"
import * as AuthenticationResults from "../../src/sender/AuthenticationResults.ts"
import { bombs } from "../mime/Bombs.ts"
import { message } from "../mime/Message.ts"
import { read, threads } from "./OnThreads.ts"

const request = { part: "visible", format: "text", maxChars: 6_000, offset: 0 } as const

const payload = JSON.stringify({ text: "plain", html: "<p>Hello <b>there</b></p>", reply: null })

/** Takes a thread some 100 ms. */
const slow = message(
  ...(bombs
    .find(({ name }) => name === "utf-7 text")
    ?.build()
    .toString("latin1")
    .split("\r\n") ?? [])
)

/** Takes a thread some 600 ms, more than another thread is late on a busy machine. */
const slower = Buffer.concat([slow, ...Array.from({ length: 100 }, () => slow.subarray(slow.indexOf("\r\n\r\n") + 4))])

const attachment = message("Content-Type: application/x", "Content-Transfer-Encoding: base64", "", "SGVsbG8=")

const ofTenant = <A, E>(tenant: string, work: Effect.Effect<A, E, RequestReader>) =>
  Effect.provideService(work, Asker, tenant)

const attached = (bytes: Uint8Array) => Effect.flatMap(RequestReader, (reader) => reader.attachment(bytes, 0))

const task = {
  authenticationResults: "Authentication-Results: mx.inlet.example; dkim=none\r\n",
  authservId: "mx.inlet.example"
}

/** What a stranger's mail makes expensive. */
const heavy: Readonly<Record<string, Effect.Effect<unknown, Unavailable, RequestReader>>> = {
  attachments: attached(slow),
  HTML: Effect.flatMap(RequestReader, (reader) =>
    reader.page(JSON.stringify({ html: "<div>".repeat(990) + "</q>".repeat(50_000) }))
  ),
  "raw messages": Effect.flatMap(RequestReader, (reader) =>
    reader.authenticated(Buffer.from(`${"a:\r\n".repeat(50_000)}\r\nHi`), task)
  )
}

layer(threads(), { excludeTestServices: true })("The request parser", (it) => {
  it.effect("returns the content of a payload and an attachment of a message", () =>
    Effect.gen(function* () {
      const reader = yield* RequestReader
      assert.strictEqual((yield* reader.content(payload, request)).content, "Hello there")
      assert.strictEqual(Buffer.from((yield* reader.attachment(attachment, 0))?.content ?? []).toString(), "Hello")
      assert.isUndefined(yield* reader.attachment(attachment, 1))
    })
  )

  it.effect("returns the HTML of a payload as a page, and null without HTML", () =>
    Effect.gen(function* () {
      const reader = yield* RequestReader
      assert.include(yield* reader.page(payload), "<body><p>Hello <b>there</b></p></body>")
      assert.isNull(yield* reader.page(JSON.stringify({ text: "plain", html: null, reply: null })))
    })
  )

  it.effect("puts the field of the sender check into short and long headers alike", () =>
    Effect.gen(function* () {
      const reader = yield* RequestReader
      const forged = "Authentication-Results: mx.inlet.example; dkim=pass\r\n"
      const long = "X-Long: x\r\n".repeat(10_000)
      for (const between of ["", long]) {
        const put = yield* reader.authenticated(Buffer.from(`A: b\r\n${between}${forged}C: d\r\n\r\nHi\r\n`), task)
        assert.strictEqual(
          Buffer.from(put).toString(),
          `${task.authenticationResults}A: b\r\n${between}C: d\r\n\r\nHi\r\n`
        )
      }
      const endless = Buffer.from(`${long.repeat(15)}body`)
      const put = yield* reader.authenticated(endless, task)
      assert.isTrue(Buffer.from(put).equals(AuthenticationResults.put({ ...task, message: endless })))
    })
  )

  for (const [what, work] of Object.entries(heavy)) {
    it.effect(`refuses the ninth waiting request of a tenant for ${what}, and still serves another tenant`, () =>
      Effect.gen(function* () {
        const many = yield* Effect.forkChild(
          Effect.forEach(Array.from({ length: 20 }), () => Effect.exit(ofTenant("heavy", work)), {
            concurrency: "unbounded"
          })
        )
        yield* Effect.yieldNow
        const other = yield* ofTenant("light", attached(attachment))
        assert.strictEqual(Buffer.from(other?.content ?? []).toString(), "Hello")
        const exits = yield* Fiber.join(many)
        const refused = exits.filter(Exit.isFailure)
        assert.strictEqual(exits.length - refused.length, 8)
        assert.match(JSON.stringify(refused[0]), /Unavailable.*Retry in 5 s/)
      })
    )
  }

  it.effect("drops an interrupted request before its turn", () =>
    Effect.gen(function* () {
      const many = yield* Effect.forkChild(
        Effect.forEach(Array.from({ length: 8 }), () => ofTenant("gone", attached(slow)), { concurrency: "unbounded" })
      )
      yield* Effect.yieldNow
      yield* Fiber.interrupt(many)
      const again = yield* Effect.forEach(
        Array.from({ length: 8 }),
        () => Effect.exit(ofTenant("gone", attached(attachment))),
        { concurrency: "unbounded" }
      )
      assert.isTrue(again.every(Exit.isSuccess))
    })
  )

  it.effect("delays no message for delivery", () =>
    Effect.gen(function* () {
      yield* read(attachment)
      const first = Effect.gen(function* () {
        const order: Array<string> = []
        yield* Effect.all(
          [
            Effect.tap(ofTenant("heavy", attached(slower)), () => Effect.sync(() => order.push("request"))),
            Effect.tap(read(attachment), () => Effect.sync(() => order.push("delivery")))
          ],
          { concurrency: "unbounded" }
        )
        return order[0]
      })
      // A busy machine can hold up the other thread, but not each time.
      assert.include(yield* Effect.replicateEffect(first, 3), "delivery")
    })
  )
})

layer(threads({ parseMilliseconds: 50, parseMillisecondsPerMiB: 0 }), {
  excludeTestServices: true
})("The request parser with a short time limit", (it) => {
  it.effect("reports a message that exceeds it, and refers to the raw message", () =>
    Effect.gen(function* () {
      yield* attached(attachment)
      const escapes = Buffer.alloc(64 * 1_024 * 1_024, "=41=42=43=44=45=46=47=48=49=4A=\r\n")
      const huge = Buffer.concat([
        message("Content-Type: application/x", "Content-Transfer-Encoding: quoted-printable", "", ""),
        escapes
      ])
      const exit = yield* Effect.exit(attached(huge))
      assert.match(JSON.stringify(exit), /Unavailable.*could not be parsed in time. Download the raw message/)
      assert.isDefined(yield* attached(attachment))
    })
  )
})
