import { Effect } from "effect"
import { Domains } from "../domains/Domains.ts"
import type { CurrentWorkspace } from "../http/requests/CurrentWorkspace.ts"
import * as LimitedKeys from "../http/requests/LimitedKeys.ts"
import type { Domain } from "../model/Domain.ts"
import { type KeyLimit, mailOf } from "../model/KeyLimit.ts"
import * as Settings from "../Settings.ts"
import * as Tool from "./Tool.ts"

/** Maximum domains in an answer. */
const most = 25

/** The next step before mail can arrive, if any. A read key can't verify a domain. */
export const nextStep = (
  { disabled_reason, id, mx_target, status, txt_name, txt_value }: Domain,
  { scope }: Pick<CurrentWorkspace["Service"], "scope">
): string | undefined => {
  switch (status) {
    case "pending_verification":
      return scope === "read"
        ? `Ask the owner to publish the TXT record ${txt_name} = ${txt_value}, and to verify the domain`
        : `Ask the owner to publish the TXT record ${txt_name} = ${txt_value}, then POST /api/domains/${id}/verify`
    case "mx_pending":
      return `Mail arrives once the MX record points to ${mx_target}. GET /api/domains/${id}/mx says whether it does`
    case "disabled":
      return `It takes no mail: ${disabled_reason}`
    default:
      return undefined
  }
}

/** A local part whose mail the key sees. A name also takes addresses with a tag. */
const localPartFor = (limit: KeyLimit | null) => {
  if (limit === null) return "github-signup"
  const { pattern } = limit
  return pattern.includes("*") ? pattern.replaceAll("*", pattern === "*" ? "github-signup" : "1") : `${pattern}+github`
}

export const add = Effect.gen(function* () {
  const domains = yield* Domains
  const { publicUrl } = yield* Settings.http

  yield* Tool.add({
    name: "get_inboxes",
    description: "List your domains. Every address at them takes mail, so make one up for each purpose.",
    filters: true,
    parameters: {},
    answer: Effect.fnUntraced(function* (_, workspace) {
      const { limit } = workspace
      const foremost = yield* domains.foremost(LimitedKeys.visible(workspace), most)
      if (foremost.domains.length === 0 && limit === null) {
        return {
          inboxes: [],
          next:
            workspace.scope === "read"
              ? "This key only reads. Ask the owner of the workspace to create an inbox: `inlet inboxes create`"
              : `POST ${publicUrl}/api/instant-inbox with this key gives one; \`inlet inboxes create\` does too`
        }
      }
      return {
        inboxes: foremost.domains.map((domain) => ({
          domain: domain.domain,
          status: domain.status,
          example: `${localPartFor(limit)}@${domain.domain}`,
          next: nextStep(domain, workspace)
        })),
        // A pattern is not from mail, but from the owner of the key.
        only: limit === null ? undefined : `This key sees only ${mailOf(limit)}`,
        more: foremost.others > 0 ? foremost.others : undefined
      }
    })
  })
})
