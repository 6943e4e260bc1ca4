import { type DateTime, Effect } from "effect"
import { Events, type Filter } from "../events/Events.ts"
import * as PassedOver from "../events/PassedOver.ts"
import type { Domain } from "../model/Domain.ts"
import { Refusals } from "../refusals/Refusals.ts"

/** What an agent is told after a wait without mail: what was refused meanwhile, or what came and did not count. */
export const make = Effect.gen(function* () {
  const events = yield* Events
  const refusals = yield* Refusals

  return Effect.fnUntraced(function* ({ id }: Pick<Domain, "id">, filter: Filter, began: DateTime.Utc) {
    const refused = yield* refusals.during({ id }, began, filter.only)
    if (refused !== null) return { refused: `${refused}. list_mail with trace: true says why, and what to do` }
    const reason = yield* PassedOver.reason(events, id, filter, began)
    switch (reason) {
      case "held":
        return {
          held: "Mail came, but a sender rule, the scanner or the loop guard holds it. list_mail with held: true shows it"
        }
      case "unconfirmed":
        return { came: `${PassedOver.inWords(reason, filter)}. list_mail with held: true shows it` }
      case "lacks":
        return { came: `${PassedOver.inWords(reason, filter)}. list_mail shows it` }
      case null:
        return {}
    }
  })
})
