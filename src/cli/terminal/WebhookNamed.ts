import { Effect } from "effect"
import { Flag } from "effect/cli"
import type { Domain } from "../../model/Domain.ts"
import { CommandFailed } from "./CommandFailed.ts"
import type * as Service from "./Service.ts"

export const flag = Flag.String("webhook").pipe(
  Flag.withDescription("Only mail of this webhook: its pattern or id"),
  Flag.optional
)

/** The webhook of a domain with this pattern or id. */
export const find = Effect.fnUntraced(function* (
  api: Service.Client,
  { domain, id }: Pick<Domain, "domain" | "id">,
  which: string
) {
  const { webhooks } = yield* api.webhooks.list({ params: { id } })
  const wanted = which.toLowerCase()
  const webhook = webhooks.find((one) => one.id === wanted || one.pattern === wanted)
  if (webhook !== undefined) return webhook
  return yield* new CommandFailed({
    message: `No webhook ${which} in ${domain}: \`inlet webhooks list ${domain}\` shows them`
  })
})
