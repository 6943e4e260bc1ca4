import { Clock, Effect, Redacted } from "effect"
import { type InboundEvent, judge, type Request as PlainRequest, type Rejected } from "./webhook.ts"

export type { InboundEvent, Rejected, RequestHeaders } from "./webhook.ts"

export interface Request extends Omit<PlainRequest, "secret"> {
  /** `webhook_signing_secret` of the workspace, `whsec_` included. */
  readonly secret: string | Redacted.Redacted
}

/** `verifySync` of `inlet-mail/webhook` for programs with Effect, with their Clock and typed errors. */
export const verify = Effect.fnUntraced(function* (request: Request): Effect.fn.Return<InboundEvent, Rejected> {
  const now = (yield* Clock.currentTimeMillis) / 1_000
  const secret = Redacted.isRedacted(request.secret) ? Redacted.value(request.secret) : request.secret
  const judged = judge({ ...request, secret }, now)
  if (judged instanceof Error) return yield* Effect.fail(judged)
  return judged
})
