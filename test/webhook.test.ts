import { createHmac } from "node:crypto"
import { runInNewContext } from "node:vm"
import { assert, describe, expectTypeOf, it } from "@effect/vitest"
import { Clock, Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { type Request, verify } from "../src/effect.ts"
import type * as Model from "../src/model/InboundEvent.ts"
import type * as Operational from "../src/model/OperationalEvent.ts"
import { type InboundEvent, type OperationalEvent, type Request as PlainRequest, verifySync } from "../src/webhook.ts"

const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`
const oldSecret = `whsec_${Buffer.alloc(32, 9).toString("base64")}`
const eventId = "01980000-0000-7000-8000-000000000001"
const body = JSON.stringify({ event: "inbound.email.received", event_id: eventId, subject: "Grüße 📬", later: 1 })

/** 2026-01-01T00:00:00Z, the time of the signatures below. */
const signedAt = 1_767_225_600

// Written from the specification, so that signer and verifier cannot share a mistake.
const signature = (key = secret, seconds = `${signedAt}`, bytes: string | Uint8Array = body) =>
  `t=${seconds},v1=${createHmac("sha256", key).update(`${seconds}.`).update(bytes).digest("hex")}`

const signed = (changed: Record<string, string | undefined> = {}): Record<string, string> =>
  Object.fromEntries(
    Object.entries({
      "x-service-event-id": eventId,
      "x-service-timestamp": `${signedAt}`,
      "x-service-signature": signature(),
      ...changed
    }).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  )

const at = (seconds: number) => TestClock.setTime(seconds * 1_000)

/** A receiver's result for a request received at the time of its signature. */
const judge = (request: Partial<Request>) =>
  Effect.andThen(at(signedAt), verify({ headers: signed(), rawBody: body, secret, ...request }))

const rejection = (request: Partial<Request>) => Effect.map(Effect.flip(judge(request)), ({ _tag }) => _tag)

describe("verify", () => {
  it.effect("returns the event, with unknown fields of later versions", () =>
    Effect.gen(function* () {
      const event = yield* judge({})
      assert.strictEqual(event.subject, "Grüße 📬")
      assert.deepStrictEqual(event, JSON.parse(body))
    })
  )

  it.effect("accepts the body as text or bytes, and the secret as text or Redacted", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* judge({ rawBody: body })).event_id, eventId)
      assert.strictEqual((yield* judge({ rawBody: Buffer.from(body) })).event_id, eventId)
      assert.strictEqual((yield* judge({ rawBody: new TextEncoder().encode(body) })).event_id, eventId)
      const fetched = yield* Effect.promise(() => new Response(body).arrayBuffer())
      assert.strictEqual((yield* judge({ rawBody: fetched })).event_id, eventId)
      assert.strictEqual((yield* judge({ secret: Redacted.make(secret) })).event_id, eventId)
    })
  )

  it.effect("accepts an ArrayBuffer of another realm, as tests under Jest have", () =>
    Effect.gen(function* () {
      const foreign: ArrayBuffer = runInNewContext(`new Uint8Array([${Buffer.from(body).join()}]).buffer`)
      assert.notInstanceOf(foreign, ArrayBuffer)
      assert.strictEqual((yield* judge({ rawBody: foreign })).event_id, eventId)
    })
  )

  it.effect("accepts a header in an array of one, as in the multiValueHeaders of API Gateway", () =>
    Effect.gen(function* () {
      const headers = Object.fromEntries(Object.entries(signed()).map(([name, value]) => [name, [value]]))
      assert.strictEqual((yield* judge({ headers })).event_id, eventId)
    })
  )

  it.effect("accepts Node's header record in any case, and the Headers of a fetch request", () =>
    Effect.gen(function* () {
      const shouted = Object.fromEntries(Object.entries(signed()).map(([name, value]) => [name.toUpperCase(), value]))
      assert.strictEqual((yield* judge({ headers: shouted })).event_id, eventId)
      assert.strictEqual((yield* judge({ headers: new Headers(signed()) })).event_id, eventId)
    })
  )

  it.effect("rejects a timestamp more than 300 s before or after the clock", () =>
    Effect.gen(function* () {
      const received = (seconds: number) =>
        Effect.andThen(at(seconds), Effect.exit(verify({ headers: signed(), rawBody: body, secret })))
      assert.strictEqual((yield* received(signedAt + 300))._tag, "Success")
      assert.strictEqual((yield* received(signedAt - 300))._tag, "Success")

      yield* at(signedAt + 301)
      const late = yield* Effect.flip(verify({ headers: signed(), rawBody: body, secret }))
      assert.strictEqual(late._tag, "TimestampOutOfRange")
      assert.include(late.message, "301 s")
      yield* at(signedAt - 301)
      const early = yield* Effect.flip(verify({ headers: signed(), rawBody: body, secret }))
      assert.strictEqual(early._tag, "TimestampOutOfRange")
    })
  )

  it.effect("names the setting of a missing secret, and the fault of a malformed one", () =>
    Effect.gen(function* () {
      for (const unset of ["", undefined]) {
        const request = { headers: signed(), rawBody: body, secret: unset as string }
        assert.throws(() => verifySync(request), TypeError, /^secret: Expected the webhook_signing_secret /)
      }
      const none = yield* Effect.flip(judge({ secret: "nonsense" }))
      assert.match(none.message, /the secret is not a webhook_signing_secret \(it begins with whsec_\)$/)
    })
  )

  it.effect("says that a secret has surrounding white space", () =>
    Effect.gen(function* () {
      for (const spaced of [`${secret}\n`, ` ${secret}`]) {
        const { message } = yield* Effect.flip(judge({ secret: spaced }))
        assert.strictEqual(message, "The signature does not match: the secret has surrounding white space")
      }
    })
  )

  it.effect("says that a parsed body is not the bytes of the request", () =>
    Effect.sync(() => {
      for (const parsed of [{ event: "inbound.email.received" }, [1], undefined, null]) {
        // What a program without types passes.
        const request = { headers: signed(), rawBody: parsed as unknown as string, secret }
        assert.throws(() => verifySync(request), TypeError, /^rawBody: Expected the bytes of the request as they came/)
      }
    })
  )

  it.effect("rejects another secret, and the right secret without whsec_", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* rejection({ secret: oldSecret }), "SignatureMismatch")
      assert.strictEqual(yield* rejection({ secret: secret.slice("whsec_".length) }), "SignatureMismatch")
    })
  )

  it.effect("rejects a body that was changed, or parsed and serialized again", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* rejection({ rawBody: body.replace("Grüße", "Grusse") }), "SignatureMismatch")
      assert.strictEqual(yield* rejection({ rawBody: JSON.stringify(JSON.parse(body), null, 1) }), "SignatureMismatch")
      assert.strictEqual(yield* rejection({ rawBody: "" }), "SignatureMismatch")
    })
  )

  it.effect("rejects an event id in the headers that differs from the body's", () =>
    Effect.gen(function* () {
      const headers = signed({ "x-service-event-id": "01980000-0000-7000-8000-000000000002" })
      assert.strictEqual(yield* rejection({ headers }), "EventIdMismatch")
      const noJson = "not JSON"
      assert.strictEqual(
        yield* rejection({
          rawBody: noJson,
          headers: signed({ "x-service-signature": signature(secret, `${signedAt}`, noJson) })
        }),
        "EventIdMismatch"
      )
    })
  )

  for (const name of ["x-service-event-id", "x-service-timestamp", "x-service-signature"]) {
    it.effect(`rejects a request without ${name} and names it`, () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(judge({ headers: signed({ [name]: undefined }) }))
        assert.strictEqual(error._tag, "SignatureMalformed")
        assert.include(error.message, name)
        assert.strictEqual(yield* rejection({ headers: signed({ [name]: "" }) }), "SignatureMalformed")
        for (const several of [[], [""], ["one", "two"]]) {
          assert.strictEqual(yield* rejection({ headers: { ...signed(), [name]: several } }), "SignatureMalformed")
        }
      })
    )
  }

  it.effect("rejects a signature in a form other than t=<digits>,v1=<hex>", () =>
    Effect.gen(function* () {
      const right = signature()
      const wrong = [
        right.replace("v1=", "v0="),
        right.replace(`t=${signedAt},`, ""),
        right.replace(`t=${signedAt}`, "t=soon"),
        right.replace(",v1=", ", v1="),
        `${right},v1=${"0".repeat(64)}`,
        `${right} `,
        right.toUpperCase(),
        `t=${signedAt},v1=`,
        `t=${signedAt},v1=${"z".repeat(64)}`,
        "v1,c2lnbmF0dXJl"
      ]
      for (const malformed of wrong) {
        const headers = signed({ "x-service-signature": malformed })
        assert.strictEqual(yield* rejection({ headers }), "SignatureMalformed", malformed)
      }
    })
  )

  it.effect("rejects a signature of another length before comparison", () =>
    Effect.gen(function* () {
      for (const tag of ["ab", "abc", `${signature().slice(-64)}00`]) {
        const headers = signed({ "x-service-signature": `t=${signedAt},v1=${tag}` })
        assert.strictEqual(yield* rejection({ headers }), "SignatureMismatch")
      }
    })
  )

  it.effect("rejects a timestamp header that differs from the signed one", () =>
    Effect.gen(function* () {
      const headers = signed({ "x-service-timestamp": `${signedAt + 1}` })
      assert.strictEqual(yield* rejection({ headers }), "SignatureMalformed")
    })
  )

  it.effect("accepts either secret during a rotation", () =>
    Effect.gen(function* () {
      const headers = signed({ "x-service-signature-previous": signature(oldSecret) })
      assert.strictEqual((yield* judge({ headers, secret })).event_id, eventId)
      assert.strictEqual((yield* judge({ headers, secret: oldSecret })).event_id, eventId)
      const third = `whsec_${Buffer.alloc(32, 1).toString("base64")}`
      assert.strictEqual(yield* rejection({ headers, secret: third }), "SignatureMismatch")
    })
  )

  it.effect("applies the same rules to the previous signature", () =>
    Effect.gen(function* () {
      const malformed = signed({ "x-service-signature-previous": "v1=00" })
      assert.strictEqual(yield* rejection({ headers: malformed }), "SignatureMalformed")
      const stale = signed({ "x-service-signature-previous": signature(oldSecret, `${signedAt - 400}`) })
      assert.strictEqual(yield* rejection({ headers: stale, secret: oldSecret }), "SignatureMalformed")
    })
  )
})

describe("The type of an event", () => {
  it("matches the service and needs no other package", () =>
    expectTypeOf<InboundEvent>().toEqualTypeOf<typeof Model.InboundEvent.Encoded>())

  it("about the service matches the service, too", () =>
    expectTypeOf<OperationalEvent>().branded.toEqualTypeOf<typeof Operational.OperationalEvent.Encoded>())
})

describe("verifySync", () => {
  it.live("returns the event without Effect", () =>
    Effect.gen(function* () {
      const headers = yield* signedNow
      assert.strictEqual(verifySync({ headers, rawBody: body, secret }).event_id, eventId)
    })
  )

  it.live("throws the same errors", () =>
    Effect.gen(function* () {
      const headers = yield* signedNow
      const thrown = (request: PlainRequest) =>
        Effect.flip(Effect.try({ try: () => verifySync(request), catch: tagOf }))
      assert.strictEqual(yield* thrown({ headers, rawBody: `${body} `, secret }), "SignatureMismatch")
      assert.strictEqual(yield* thrown({ headers: {}, rawBody: body, secret }), "SignatureMalformed")
      assert.strictEqual(yield* thrown({ headers: signed(), rawBody: body, secret }), "TimestampOutOfRange")
      const other = { ...headers, "x-service-event-id": "another" }
      assert.strictEqual(yield* thrown({ headers: other, rawBody: body, secret }), "EventIdMismatch")
    })
  )
})

/** Headers signed at the current time. */
const signedNow = Effect.map(Clock.currentTimeMillis, (millis) => {
  const now = `${Math.floor(millis / 1_000)}`
  return signed({ "x-service-timestamp": now, "x-service-signature": signature(secret, now) })
})

const tagOf = (cause: unknown) =>
  cause instanceof Error && "_tag" in cause && typeof cause._tag === "string" ? cause._tag : "no error of ours"
