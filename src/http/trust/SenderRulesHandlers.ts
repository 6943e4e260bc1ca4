import { Effect, Schema } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Domains } from "../../domains/Domains.ts"
import { Events } from "../../events/Events.ts"
import { Conflict } from "../../model/ApiError.ts"
import type { DomainId } from "../../model/Domain.ts"
import { type Envelope, isObserved, simulatedAddress } from "../../model/InboundEmail.ts"
import { InboundEvent } from "../../model/InboundEvent.ts"
import { SenderRules } from "../../trust/SenderRules.ts"
import { WorkspaceLimits } from "../../workspaces/WorkspaceLimits.ts"
import { AnswerRoom } from "../answers/AnswerRoom.ts"
import { CurrentWorkspace } from "../requests/CurrentWorkspace.ts"
import * as GroupApi from "../requests/GroupApi.ts"
import * as LimitedKeys from "../requests/LimitedKeys.ts"
import { SenderRulesApi } from "./SenderRulesApi.ts"

export const layer = HttpApiBuilder.group(
  GroupApi.of(SenderRulesApi),
  "senderRules",
  Effect.fn(function* (handlers) {
    const domains = yield* Domains
    const events = yield* Events
    const rules = yield* SenderRules
    const limits = yield* WorkspaceLimits
    const room = yield* AnswerRoom

    const owned = (id: DomainId) => CurrentWorkspace.use((workspace) => LimitedKeys.domainOf(domains, workspace, id))

    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ params }) {
        const { id } = yield* owned(params.id)
        return { sender_rules: yield* rules.list(id) }
      }),
      create: Effect.fnUntraced(function* ({ params, payload }) {
        const { id } = yield* owned(params.id)
        const { action = "hold", list, match = "author", note = null, value, webhook_id = null } = payload
        return yield* rules.create(id, { action, list, match, note, value, webhook_id })
      }),
      remove: Effect.fnUntraced(function* ({ params }) {
        const { id } = yield* owned(params.id)
        yield* rules.remove(id, params.ruleId)
      }),
      release: Effect.fnUntraced(function* ({ params: { eventId, id: domainId }, payload }) {
        const { id } = yield* owned(domainId)
        const { id: workspaceId } = yield* CurrentWorkspace
        const listed = yield* events.get(id, eventId)
        const { reason } = listed.delivery
        if (reason === undefined) return yield* new Conflict({ message: notHeld })
        yield* limits.spend("replay", workspaceId)
        const allowed = Effect.gen(function* () {
          if (reason === "spam" || reason === "virus") return yield* new Conflict({ message: isScanned })
          if (reason === "mail_loop") return yield* new Conflict({ message: isLoop })
          if (reason === "sender_blocked") return yield* new Conflict({ message: staysBlocked })
          yield* room.reserve(listed.bytes)
          const { payload: text } = yield* events.payload(id, listed)
          const { envelope, from, trust, webhook_id } = judged(text)
          const refusal = new Conflict({ message: notConfirmed(envelope) })
          if (trust?.aligned !== true) return yield* refusal
          return yield* Effect.catchTag(rules.allow(id, from, webhook_id), "Invalid", () => refusal)
        })
        const sender_rule = payload.allow === true ? yield* allowed : null
        return { event_id: eventId, delivery: yield* events.release(id, eventId), sender_rule }
      })
    })
  })
)

const { envelope, from, trust, webhook_id } = InboundEvent.fields

const judged = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({ envelope, from, trust, webhook_id })))

const notHeld =
  "No sender rule, mail scanner or loop guard holds this event. POST /api/domains/{id}/events/{eventId}/replay delivers an event that is held for another reason, or again"

const isScanned =
  'The mail scanner holds this event, and no allow rule counts before it. Release it without allow. PATCH /api/domains/{id} {"spam": "tag"} delivers such mail from now on'

const isLoop = "The loop guard holds this event, and an allow rule does not change that. Release it without allow"

const staysBlocked =
  "A block rule holds this event, and counts before any allow rule. Release it without allow, or remove the rule with DELETE /api/domains/{id}/sender-rules/{ruleId}. The event names it in trust.rule"

/** A rule about network or envelope allows only mail whose client Inlet itself saw. */
const notConfirmed = (envelope: Envelope) => {
  const refusal =
    "The author of this event is not confirmed, so a rule that allows it would not match. The event says why in trust.reasons. Release it without allow"
  if (isObserved(envelope)) return `${refusal}, or allow its network or envelope`
  if (envelope.remoteAddress !== simulatedAddress) return refusal
  return `${refusal}, or simulate it again with {"authentication": {"dmarc": "pass"}}, which confirms the author of a simulated mail`
}
