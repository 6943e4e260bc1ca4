import { assert, describe, it, layer } from "@effect/vitest"
import { ConfigProvider, Effect } from "effect"
import { TestClock } from "effect/testing"
import { DomainId } from "../../src/model/Domain.ts"
import * as LoopGuard from "../../src/trust/LoopGuard.ts"
import { heldBytes } from "../HeldBytes.ts"
import * as Mail from "../Mail.ts"
import * as Mailbox from "../Mailbox.ts"
import { TestInlet } from "../TestInlet.ts"

const limited = (most: string) => ConfigProvider.layer(ConfigProvider.fromEnv({ env: { MAX_ANSWERS_PER_HOUR: most } }))

const answer: LoopGuard.Answer = {
  domainId: DomainId.make("01981c9e-0000-7000-8000-000000000001"),
  recipient: "agent@inlet.example",
  author: "bot@partner.example",
  isConfirmed: true
}

describe("The loop guard", () => {
  it.effect("stops answers beyond the limit of an author and an address, until an hour after the first", () =>
    Effect.gen(function* () {
      const { exceeds } = yield* LoopGuard.make
      assert.deepStrictEqual(
        [1, 2, 3, 4].map(() => exceeds(answer)),
        [false, false, true, true]
      )
      assert.isTrue(exceeds({ ...answer, author: "Bot@Partner.example", recipient: "AGENT@inlet.example" }))
      assert.isFalse(exceeds({ ...answer, recipient: "other@inlet.example" }))
      assert.isFalse(exceeds({ ...answer, author: "ada@partner.example" }))
      yield* TestClock.adjust("59 minutes")
      assert.isTrue(exceeds(answer))
      yield* TestClock.adjust("1 minute")
      assert.isFalse(exceeds(answer))
    }).pipe(Effect.provide(limited("2")))
  )

  it.effect("counts forged answers apart from those of the confirmed author", () =>
    Effect.gen(function* () {
      const { exceeds } = yield* LoopGuard.make
      const forged = { ...answer, isConfirmed: false }
      assert.deepStrictEqual(
        [forged, forged, forged, answer].map((one) => exceeds(one)),
        [false, false, true, false]
      )
    }).pipe(Effect.provide(limited("2")))
  )

  it.effect("does not count an answer again that is read again because it could not be written", () =>
    Effect.gen(function* () {
      const { exceeds, forget } = yield* LoopGuard.make
      for (let outage = 0; outage < 10; outage++) {
        assert.isFalse(exceeds(answer))
        forget(answer)
      }
      assert.deepStrictEqual(
        [1, 2, 3].map(() => exceeds(answer)),
        [false, false, true]
      )
    }).pipe(Effect.provide(limited("2")))
  )

  it.effect("remembers authors with long addresses in as little memory as others", () =>
    Effect.gen(function* () {
      const { exceeds } = yield* LoopGuard.make
      const before = yield* heldBytes
      for (let author = 0; author < 500; author++) {
        exceeds({ ...answer, author: `${author}-${"a".repeat(100_000)}@partner.example` })
      }
      assert.isBelow((yield* heldBytes) - before, 5_000_000)
      assert.isFalse(exceeds(answer))
    }).pipe(Effect.provide(limited("2")))
  )

  it.effect("stops nothing with the limit 0", () =>
    Effect.gen(function* () {
      const { exceeds } = yield* LoopGuard.make
      assert.isFalse(Array.from({ length: 1_000 }, () => exceeds(answer)).includes(true))
    }).pipe(Effect.provide(limited("0")))
  )
})

layer(TestInlet.layer({ MAX_ANSWERS_PER_HOUR: "2", SENDER_CHECKS: "false" }), {
  excludeTestServices: true
})("A mail loop", (it) => {
  const send = Effect.fnUntraced(function* (headers: string, count: number) {
    const inlet = yield* TestInlet
    const inbox = yield* inlet.inbox()
    for (let number = 1; number <= count; number++) {
      yield* Mail.send(inlet.smtpPort, {
        to: `agent@${inbox.domain}`,
        raw: `From: bot@partner.example\r\nMessage-ID: <${number}@partner.example>\r\n${headers}\r\n\r\nHello\r\n`
      })
      yield* Mailbox.events(inbox)
    }
    const states = (yield* Mailbox.accepted(inbox)).map(({ delivery }) => delivery.reason ?? delivery.status)
    return { ...inbox, states }
  })

  it.effect("is held from the answer that exceeds the limit on, with the reason in list and trace", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { domainId, key, states } = yield* send("Subject: Re: Hello\r\nIn-Reply-To: <a@inlet.example>", 4)
      assert.deepStrictEqual(states, ["held", "held", "mail_loop", "mail_loop"])
      const held = yield* inlet.call("GET", `/api/domains/${domainId}/events?trust=held`, { key })
      assert.lengthOf(held.json.events, 2)
      const [{ event_id }] = held.json.events
      const { text } = yield* inlet.call("GET", `/api/trace?from=bot@partner.example`, { key })
      assert.include(text, "Held as a mail loop: bot@partner.example sent more answers to this address in an hour")
      const released = yield* inlet.call("POST", `/api/domains/${domainId}/events/${event_id}/release`, {
        key,
        body: { allow: false }
      })
      assert.strictEqual(released.status, 202, released.text)
      const { json } = yield* inlet.call("GET", `/api/domains/${domainId}/events/${event_id}`, { key })
      assert.isUndefined(json.delivery.reason)
    })
  )

  it.effect("is released without an allow rule, because a rule would hold the mail of everyone else", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { domainId, key } = yield* inlet.inbox()
      const at = `/api/domains/${domainId}`
      const answered = (from: string) =>
        inlet.call("POST", `${at}/simulate?wait=10`, {
          key,
          body: { from, subject: "Re: Hello", inReplyTo: "<a@inlet.example>", authentication: { dmarc: "pass" } }
        })
      yield* Effect.replicateEffect(answered("bot@partner.example"), 3)
      const { json } = yield* inlet.call("GET", `${at}/events?trust=held`, { key })
      assert.deepStrictEqual(
        json.events.map((event: { delivery: { reason?: string } }) => event.delivery.reason),
        ["mail_loop"]
      )
      const path = `${at}/events/${json.events[0].event_id}/release`
      const refused = yield* inlet.call("POST", path, { key, body: { allow: true } })
      assert.strictEqual(refused.status, 409, refused.text)
      assert.strictEqual(
        refused.json.error,
        "The loop guard holds this event, and an allow rule does not change that. Release it without allow"
      )
      const rules = yield* inlet.call("GET", `${at}/sender-rules`, { key })
      assert.lengthOf(rules.json.sender_rules, 0)
      assert.strictEqual((yield* inlet.call("POST", path, { key, body: {} })).status, 202)
    })
  )

  it.effect("is not what an author begins, however often", () =>
    Effect.gen(function* () {
      const { states } = yield* send("Subject: Alert", 4)
      assert.deepStrictEqual(states, ["held", "held", "held", "held"])
    })
  )
})
