import { createHash } from "node:crypto"
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Config, Effect, FileSystem } from "effect"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import * as BriefEvent from "../../src/events/BriefEvent.ts"
import * as Mime from "../../src/mime/Mime.ts"
import { DomainId, DomainName } from "../../src/model/Domain.ts"
import { InboundEmailId, rawRef } from "../../src/model/InboundEmail.ts"
import { EventId } from "../../src/model/InboundEvent.ts"
import { WebhookId } from "../../src/model/Webhook.ts"
import * as EventPayload from "../../src/reading/EventPayload.ts"
import * as Insight from "../../src/reading/Insight.ts"
import * as Needs from "../Needs.ts"

const inboundEmailId = InboundEmailId.make("01981c9e-1111-7000-8000-000000000001")
const sender = "bounce@sender.example"

const tokens = (message: Uint8Array) => {
  const contents = Mime.read(message)
  const { payload } = EventPayload.render({
    eventId: EventId.make("01981c9e-2222-7000-8000-000000000001"),
    inboundEmailId,
    domain: DomainName.make("example.com"),
    recipient: "agent@example.com",
    route: { id: WebhookId.make("01981c9e-0000-7000-8000-000000000001"), pattern: "*" },
    envelope: { from: sender, helo: "client.example", remoteAddress: "203.0.113.9" },
    receivedAt: "2026-01-31T12:00:00.007Z",
    rawRef: rawRef(DomainId.make("01981c9e-0000-7000-8000-000000000001"), inboundEmailId),
    sha256: createHash("sha256").update(message).digest(),
    contents,
    insight: Insight.of(contents, sender),
    authentication: { spf: "pass", dkim: "pass", dmarc: "pass", arc: "none" },
    trust: { aligned: false, rule: null, reasons: ["not_checked"] },
    authservId: "mx.example.net",
    messageBytes: message.byteLength
  })
  return countTokens(BriefEvent.render(payload, "delivered"))
}

/** The brief event of each mail of a folder. */
const counted = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const files = (yield* fs.readDirectory(folder, { recursive: true })).filter((file) => file.endsWith(".eml"))
  return yield* Effect.forEach(files, (file) => Effect.map(fs.readFile(`${folder}/${file}`), tokens))
})

const median = (numbers: ReadonlyArray<number>) =>
  numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)]

describe("A brief event", () => {
  it.effect("has at most 200 tokens for a newsletter, a reply and a mail in Japanese", () =>
    Effect.gen(function* () {
      const each = yield* counted(new URL("../fixtures/", import.meta.url).pathname)
      assert.isAtLeast(each.length, 4)
      assert.isAtMost(Math.max(...each), 200)
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.effect(
    "has a median of at most 200 tokens over the corpus",
    () =>
      Effect.gen(function* () {
        const each = yield* counted(yield* Config.String("CORPUS_DIR"))
        assert.isAtLeast(each.length, 300)
        assert.isAtMost(median(each) ?? 0, 200)
      }).pipe(Effect.provide(NodeServices.layer)),
    Needs.options(Needs.corpus)
  )
})
