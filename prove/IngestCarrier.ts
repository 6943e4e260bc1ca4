import { Effect, Option, Random } from "effect"
import { call } from "../test/ApiCall.ts"
import type { Carrier, Outcome } from "./Sender.ts"

/** The part of requests that the relay does not live to see answered, and its life meanwhile. */
const shareOfDeaths = 0.05
const mostMillis = 40

/** A relay that hands mail over by HTTP, with an ingest key. It dies at random within a request, and repeats the mail. */
export const make = (options: {
  readonly url: string
  readonly domainId: string
  readonly key: string
  readonly to: string
}): Carrier => {
  const { domainId, key, to, url } = options
  const query = new URLSearchParams({ from: "sender@sender.example", recipient: to })
  const hand = (message: string) =>
    call(url, "POST", `/api/domains/${domainId}/ingest?${query}`, {
      key,
      body: `${message}\r\n`,
      headers: { "content-type": "message/rfc822" }
    }).pipe(
      Effect.map(({ json, status }): Outcome => {
        if (status === 202) return "accepted"
        return json?.smtp?.code >= 500 ? { bounced: json.error } : "postponed"
      }),
      // The service was killed.
      Effect.sandbox,
      Effect.orElseSucceed((): Outcome => "unanswered")
    )

  return Effect.fnUntraced(function* ({ next, pause, tell }) {
    const mail = next()
    if (mail === undefined) return true
    const dies = (yield* Random.next) < shareOfDeaths
    const life = dies ? yield* Random.nextIntBetween(0, mostMillis) : 60_000
    const outcome = yield* Effect.timeoutOption(hand(mail.message), life)
    yield* tell(
      mail,
      Option.getOrElse(outcome, (): Outcome => "unanswered")
    )
    yield* pause
    return Option.contains(outcome, "accepted")
  })
}
