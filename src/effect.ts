import { Clock, Effect, Redacted } from "effect"
import { type InboundEvent, judge, type Request as PlainRequest, type Rejected, type WebhookEvent } from "./webhook.ts"

export type { InboundEvent, OperationalEvent, Rejected, RequestHeaders, WebhookEvent } from "./webhook.ts"

export interface Request extends Omit<PlainRequest, "secret"> {
  /** `webhook_signing_secret` of the workspace, `whsec_` included. */
  readonly secret: string | Redacted.Redacted | undefined
}

/** `verifySync` of `inlet-mail/webhook` for programs with Effect, with their Clock and typed errors. */
export const verify = Effect.fnUntraced(function* <Event extends WebhookEvent = InboundEvent>(
  request: Request
): Effect.fn.Return<Event, Rejected> {
  const now = (yield* Clock.currentTimeMillis) / 1_000
  const secret = Redacted.isRedacted(request.secret) ? Redacted.value(request.secret) : request.secret
  const judged = judge<Event>({ ...request, secret }, now)
  if (judged instanceof Error) return yield* Effect.fail(judged)
  return judged
})
