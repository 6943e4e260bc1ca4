import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { layerWith, WebhookFormats } from "../../../src/delivery/formats/WebhookFormats.ts"
import * as FakeFormat from "../../../src/testing/FakeFormat.ts"
import { eventId, of, stamp } from "./DeliveredMail.ts"

const builtIn = ["inlet", "raw", "mailgun", "postmark", "sendgrid", "sendgrid-raw", "mandrill"]

const refusal = (name: string) =>
  Effect.flip(Effect.provide(WebhookFormats, layerWith({ [name]: FakeFormat.make({ needs: "event" }).layer })))

describe("The formats of webhooks", () => {
  it.effect("are known by name, without a Layer", () =>
    Effect.gen(function* () {
      const formats = yield* WebhookFormats
      assert.deepStrictEqual(formats.names, builtIn)
      for (const name of builtIn.slice(1)) assert.isDefined(formats.get(name), name)
      for (const name of ["inlet", "ses", "", "__proto__"]) assert.isUndefined(formats.get(name), name)
    })
  )

  it.effect("include a program's own", () =>
    Effect.gen(function* () {
      const fake = FakeFormat.make({ needs: "event", final: [422] })
      const formats = yield* Effect.provide(WebhookFormats, layerWith({ acme: fake.layer }))
      assert.deepStrictEqual(formats.names, [...builtIn, "acme"])
      assert.isTrue(formats.get("acme")?.final.has(422))
    })
  )

  it.effect("refuse a name that is taken or malformed, and say which names are possible", () =>
    Effect.gen(function* () {
      for (const name of ["inlet", "raw", "mailgun"]) {
        assert.strictEqual(
          (yield* refusal(name)).message,
          `The webhook format ${name} is built in. Give your own format another name`
        )
      }
      for (const name of ["", "Acme", "a b", "-a", "a-", "ä", "a".repeat(33)]) {
        assert.match(
          (yield* refusal(name)).message,
          /has an invalid name. Use at most 32 small letters, digits and dashes/
        )
      }
    })
  )
})

describe("The fake format", () => {
  it.effect("lists what it was asked, and refuses on demand", () =>
    Effect.gen(function* () {
      const fake = FakeFormat.make({ needs: "parts" })
      const acme = (yield* Effect.provide(WebhookFormats, layerWith({ acme: fake.layer }))).get("acme")
      const recipe = acme?.recipe(new URL("https://app.example/"), {})
      assert.strictEqual(recipe?.needs, "parts")
      const mail = of(Buffer.from("Subject: x\r\n\r\ny"))
      assert.deepStrictEqual(recipe?.make(mail, stamp), {
        headers: { "Content-Type": "text/plain" },
        body: Buffer.from(eventId)
      })
      yield* fake.will("refuse")
      assert.throws(() => recipe?.make(mail, stamp), /refused/)
      assert.deepStrictEqual(
        fake.asked.map(({ event, stamp }) => [event.subject, stamp.attempt]),
        [
          ["x", 1],
          ["x", 1]
        ]
      )
    })
  )
})
