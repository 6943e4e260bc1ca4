import { Context, Effect } from "effect"
import type { Domains } from "../../domains/Domains.ts"
import { Forbidden } from "../../model/ApiError.ts"
import { type DomainId, noSuchDomain } from "../../model/Domain.ts"
import { type KeyLimit, mailOf } from "../../model/KeyLimit.ts"
import { noSuchWebhook, type WebhookId } from "../../model/Webhook.ts"
import type { WorkspaceId } from "../../model/Workspace.ts"
import * as Routes from "../../webhooks/routes/Routes.ts"
import type { Webhooks } from "../../webhooks/Webhooks.ts"

/**
 * How an endpoint treats keys that see the mail of one pattern alone: `refused` by default, `filtered` if it shows them
 * less, `open` if nothing in its answer depends on mail.
 */
export const LimitedKeys = Context.Reference<"refused" | "filtered" | "open">("inlet/http/LimitedKeys", {
  defaultValue: () => "refused"
})

/** Annotates an endpoint whose handler shows a limited key only its mail. */
export const filtered = Context.make(LimitedKeys, "filtered")

/** Annotates an endpoint whose answer has nothing of mail. */
export const open = Context.make(LimitedKeys, "open")

/** The refusal for limited keys. `takesReadKeys` says whether one without a limit would do. */
export const refusal = (what: string, limit: KeyLimit, takesReadKeys: boolean) =>
  new Forbidden({
    message: `This key sees only ${mailOf(limit)}: ${what} requires ${
      takesReadKeys ? "a key without a limit" : "the workspace's own key, `Authorization: Bearer ak_live_…`"
    }`
  })

/** Whether a key may see mail to this address. */
export const sees = (limit: KeyLimit | null, recipient: string): boolean =>
  limit === null || Routes.takes(limit.pattern, Routes.localPartOf(recipient))

/** Whether a key may see this domain. */
export const seesDomain = (limit: KeyLimit | null, id: DomainId): boolean =>
  limit === null || limit.domainId === null || limit.domainId === id

interface Holder {
  readonly id: WorkspaceId
  readonly limit: KeyLimit | null
}

/** The domain of a workspace, if the key may see it. */
export const domainOf = (domains: Domains["Service"], { id: workspaceId, limit }: Holder, id: DomainId) =>
  seesDomain(limit, id) ? domains.get({ workspaceId, id }) : Effect.fail(noSuchDomain)

/** Fails unless the webhook of the domain may take mail that the key sees. Without a limit it makes no query. */
export const demandWebhook = Effect.fnUntraced(function* (
  webhooks: Webhooks["Service"],
  limit: KeyLimit | null,
  domainId: DomainId,
  id: WebhookId
) {
  if (limit === null) return
  const { pattern } = yield* webhooks.get(domainId, id)
  if (!Routes.meet(pattern, limit.pattern)) return yield* noSuchWebhook
})

/** The domains of a workspace that the key may see, for a list. */
export const visible = ({ id, limit }: Holder) => ({ workspaceId: id, id: limit?.domainId ?? undefined })
