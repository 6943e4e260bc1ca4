import { Effect } from "effect"
import { Domains } from "../domains/Domains.ts"
import type { Domain } from "../model/Domain.ts"
import * as Settings from "../Settings.ts"
import * as Tool from "./Tool.ts"

/** Maximum domains in an answer. */
const most = 25

/** The next step before mail can arrive, if any. */
const nextStep = ({ disabled_reason, id, mx_target, status, txt_name, txt_value }: Domain): string | undefined => {
  switch (status) {
    case "pending_verification":
      return `Ask the owner to publish the TXT record ${txt_name} = ${txt_value}, then POST /api/domains/${id}/verify`
    case "mx_pending":
      return `Ask the owner to publish the MX record to ${mx_target}`
    case "disabled":
      return `It takes no mail: ${disabled_reason}`
    default:
      return undefined
  }
}

/** Domains that accept mail come first. */
const rank = ({ status }: Domain) =>
  ["live", "verified", "mx_pending", "pending_verification", "disabled"].indexOf(status)

export const add = Effect.gen(function* () {
  const domains = yield* Domains
  const { publicUrl } = yield* Settings.http

  yield* Tool.add({
    name: "get_inboxes",
    description:
      "Your domains. Every address at them takes mail: make one up for each purpose, nothing has to be created.",
    parameters: {},
    answer: Effect.fnUntraced(function* (_, { id }) {
      const all = (yield* domains.list(id)).toSorted((one, other) => rank(one) - rank(other))
      if (all.length === 0) {
        return {
          inboxes: [],
          next: `POST ${publicUrl}/api/instant-inbox with this key gives one; \`inlet inboxes create\` does too`
        }
      }
      return {
        inboxes: all.slice(0, most).map((domain) => ({
          domain: domain.domain,
          status: domain.status,
          example: `github-signup@${domain.domain}`,
          next: nextStep(domain)
        })),
        more: all.length > most ? all.length - most : undefined
      }
    })
  })
})
