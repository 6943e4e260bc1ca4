import { Effect, Layer } from "effect"
import {
  type DeliveredEvent,
  type DeliveredMessage,
  type DeliveredParts,
  type Recipe,
  type Stamp,
  WebhookFormat
} from "../delivery/formats/WebhookFormat.ts"
import type { Mood } from "./Mood.ts"

/** A request that the fake was asked for: the mail as loaded, and the circumstances of the attempt. */
export type Asked = (DeliveredEvent | DeliveredMessage | DeliveredParts) & { readonly stamp: Stamp }

export interface FakeFormat {
  /** For `formats` of `TestInlet.layer`. */
  readonly layer: Layer.Layer<WebhookFormat>
  /** Sets the mood. `refuse` makes `make` throw, so that the attempt fails. */
  will(mood: Extract<Mood, "work" | "refuse">): Effect.Effect<void>
  /** The requests that were made or refused, oldest first. */
  readonly asked: ReadonlyArray<Asked>
}

/** A format whose requests have the event id as text. `needs` decides what is loaded for a request. */
export const make = (options: {
  readonly needs: Recipe["needs"]
  readonly final?: ReadonlyArray<number>
}): FakeFormat => {
  const asked: Array<Asked> = []
  let mood: Mood = "work"
  const write = (mail: DeliveredEvent, stamp: Stamp) => {
    asked.push({ ...mail, event: mail.event, stamp })
    if (mood === "refuse") throw new Error("the fake format refused")
    return { headers: { "Content-Type": "text/plain" }, body: Buffer.from(mail.eventId) }
  }
  return {
    layer: Layer.succeed(WebhookFormat, {
      takes: { basicAuth: true, signingKey: true },
      final: new Set(options.final ?? []),
      recipe: () => ({ needs: options.needs, make: write })
    }),
    will: (next) =>
      Effect.sync(() => {
        mood = next
      }),
    asked
  }
}
