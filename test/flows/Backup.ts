import { assert } from "@effect/vitest"
import { Array, Effect } from "effect"
import { verify } from "../../src/effect.ts"
import type { Answer } from "../ApiCall.ts"
import { eventually } from "../Eventually.ts"
import * as InletProcess from "../InletProcess.ts"
import * as Mail from "../Mail.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"

const patient = {
  SECRETS_KEY: Buffer.alloc(32, 5).toString("base64"),
  WEBHOOK_RETRY_DELAYS: Array.replicate("500ms", 200).join(",")
}

const statuses = ({ json }: Answer) =>
  Object.fromEntries(json.events.map(({ delivery, subject }: Answer["json"]) => [subject, delivery.status]))

/**
 * Backs up a service with one delivered and one pending mail, stops it, and restores it elsewhere. `backUp` returns
 * the settings of the restored service.
 */
export const goesOn = Effect.fnUntraced(function* (
  settings: Readonly<Record<string, string>>,
  backUp: (inlet: InletProcess.InletProcess) => Effect.Effect<Readonly<Record<string, string>>>
) {
  const receiver = yield* WebhookReceiver.make
  const first = yield* InletProcess.start({ ...settings, ...patient })
  const { address, domainId, key, secret } = yield* first.inbox(receiver.url)
  const send = (inlet: InletProcess.InletProcess, subject: string) =>
    Mail.send(inlet.smtpPort, {
      to: address,
      subject,
      messageId: `<${subject}@sender.example>`,
      date: "Thu, 01 Jan 1970 00:00:00 GMT"
    })
  const events = (inlet: InletProcess.InletProcess) => inlet.call("GET", `/api/domains/${domainId}/events`, { key })

  yield* send(first, "delivered")
  yield* eventually(events(first), (answer) => statuses(answer).delivered === "delivered")
  yield* receiver.answerAlways(503)
  yield* send(first, "pending")
  yield* eventually(receiver.all, (requests) => requests.some(({ event }) => event.subject === "pending"))
  const restored = yield* backUp(first)
  yield* first.signal("SIGKILL")
  yield* first.ending
  const before = (yield* receiver.all).length
  yield* receiver.answerAlways(200)

  const second = yield* InletProcess.start({ ...restored, ...patient })
  const listed = yield* eventually(
    events(second),
    (answer) => statuses(answer).delivered === "delivered" && statuses(answer).pending === "delivered",
    "90 seconds"
  )
  assert.lengthOf(listed.json.events, 2)
  for (const { event_id, subject } of listed.json.events) {
    const raw = yield* second.call("GET", `/api/domains/${domainId}/events/${event_id}/raw`, { key })
    assert.strictEqual(raw.status, 200)
    assert.include(raw.text, `Subject: ${subject}`)
  }
  // A sender that missed its 250 from the old service retries.
  yield* send(second, "pending")
  yield* send(second, "new")
  yield* eventually(events(second), (answer) => statuses(answer).new === "delivered")
  const requests = (yield* receiver.all).slice(before)
  assert.sameMembers([...new Set(requests.map(({ event }) => event.subject))], ["pending", "new"])
  for (const { body, headers } of requests) yield* verify({ headers, rawBody: body, secret })
  assert.lengthOf((yield* events(second)).json.events, 3)
})
