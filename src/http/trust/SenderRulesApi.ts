import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Conflict, Invalid, NotFound, TooManyRequests } from "../../model/ApiError.ts"
import { Delivery } from "../../model/Delivery.ts"
import { DomainId } from "../../model/Domain.ts"
import { EventId } from "../../model/InboundEvent.ts"
import { longestValue, mostRules, SenderRule, SenderRuleId } from "../../model/SenderRule.ts"
import { Authorization } from "../requests/Authorization.ts"
import { KnownParameters } from "../requests/KnownParameters.ts"
import { Note } from "../requests/Note.ts"

const { action, list, match, value, webhook_id } = SenderRule.fields

export class SenderRulesApi extends HttpApiGroup.make("senderRules")
  .add(
    HttpApiEndpoint.get("list", "/api/domains/:id/sender-rules", {
      params: { id: DomainId },
      success: Schema.Struct({ sender_rules: Schema.Array(SenderRule) }),
      error: NotFound.http
    }).annotateMerge(OpenApi.annotations({ summary: "List the sender rules of a domain" })),
    HttpApiEndpoint.post("create", "/api/domains/:id/sender-rules", {
      params: { id: DomainId },
      payload: Schema.Struct({
        list: list.annotate({ message: "Expected allow or block" }),
        match: Schema.optionalKey(match.annotate({ message: "Expected author, envelope or network" })),
        value: value.check(Schema.isMaxLength(longestValue)),
        action: Schema.optionalKey(action.annotate({ message: "Expected hold or reject" })),
        webhook_id: Schema.optionalKey(webhook_id),
        note: Note
      }),
      success: SenderRule.pipe(HttpApiSchema.status(201)),
      error: [Invalid.http, NotFound.http, Conflict.http]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Allow or block a sender",
        description: `By default the rule is about the author and holds mail. It counts for mail that comes from now on. The allow rules of a webhook take the place of those of the domain, block rules of both count. 409 for a rule about the same sender, and beyond ${mostRules} rules.`
      })
    ),
    HttpApiEndpoint.delete("remove", "/api/domains/:id/sender-rules/:ruleId", {
      params: { id: DomainId, ruleId: SenderRuleId },
      success: HttpApiSchema.NoContent,
      error: NotFound.http
    }).annotateMerge(
      OpenApi.annotations({ summary: "Remove a sender rule", description: "Mail that it held stays held." })
    ),
    HttpApiEndpoint.post("release", "/api/domains/:id/events/:eventId/release", {
      params: { id: DomainId, eventId: EventId },
      payload: Schema.Struct({
        allow: Schema.optionalKey(
          Schema.Boolean.annotate({
            description:
              "`true` also allows the author's address: at its webhook if that has allow rules of its own, and else at the domain"
          })
        )
      }),
      success: Schema.Struct({
        event_id: EventId,
        delivery: Delivery,
        sender_rule: Schema.NullOr(SenderRule).annotate({
          description: "the rule that allows the author from now on, or null"
        })
      }).pipe(HttpApiSchema.status(202)),
      error: [NotFound.http, Conflict.http, TooManyRequests.http]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Release mail that a sender rule, the mail scanner or the loop guard holds",
        description:
          "Delivers it as if it had passed. Its payload keeps `trust` and `spam` as judged when it came. 409 if nothing holds it, and for `allow` if the author is not confirmed, or a block rule, the scanner or the loop guard holds it, because an allow rule would change nothing. Counts as a replay: 429 beyond 60 a minute or 2,000 a day."
      })
    )
  )
  .middleware(KnownParameters)
  .middleware(Authorization)
  .annotateMerge(
    OpenApi.annotations({
      title: "Sender rules",
      description: "Who may write to a domain, and mail that waits for a decision"
    })
  ) {}
