import { isIP } from "node:net"
import { Context, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Invalid, NotFound, TooLarge, TooManyRequests, Unavailable, Unprocessable } from "../../model/ApiError.ts"
import { DomainId } from "../../model/Domain.ts"
import { InboundEmailId } from "../../model/InboundEmail.ts"
import { Authorization } from "../requests/Authorization.ts"
import * as IngestKeys from "../requests/IngestKeys.ts"
import { KnownParameters, Repeatable } from "../requests/KnownParameters.ts"
import * as WholeBody from "../requests/WholeBody.ts"

/** As many as SMTP accepts for a message. */
const mostRecipients = 100

/** Text of one line without the brackets of a path. */
const line = (most: number) =>
  Schema.String.check(
    Schema.isPattern(/^[^\p{Cc}\p{Zl}\p{Zp}<>]*$/u, { message: "Expected text of one line without < and >" }),
    Schema.isMaxLength(most, { message: `Expected at most ${most} characters` })
  )

const Recipients = Schema.Union([line(320), Schema.Array(line(320))])
  .annotate({
    description: `an envelope recipient at this domain. Repeat it for up to ${mostRecipients} recipients`
  })
  .check(
    Schema.makeFilter((recipients) =>
      typeof recipients === "string" || recipients.length <= mostRecipients
        ? undefined
        : `Expected at most ${mostRecipients} recipients`
    )
  )

/** The same form as on other routes. */
const IdempotencyKey = Schema.String.check(
  Schema.isPattern(/^[!-~]{1,255}$/, { message: "Expected 1 to 255 printable ASCII characters, such as a UUID" })
).annotate({
  description:
    "names the message. The same key for the same recipient is the same message for seven days, also without a Message-ID. 422 for other bytes. Leave it out if the relay adds header fields on each attempt"
})

/** A refusal, with the reply that SMTP gives. Without one the request itself is at fault. */
export const MailRefusal = Schema.Struct({
  error: Schema.String,
  smtp: Schema.optionalKey(
    Schema.Struct({
      code: Schema.Int.annotate({ description: "500 or more: final" }),
      enhanced: Schema.String,
      text: Schema.String
    }).annotate({ description: "the reply of SMTP. Absent if the request itself is refused" })
  ),
  recipients: Schema.optionalKey(Schema.Array(Schema.String).annotate({ description: "the refused ones" }))
}).annotate({ identifier: "MailRefusal" })

export class IngestApi extends HttpApiGroup.make("ingest")
  .add(
    HttpApiEndpoint.post("ingest", "/api/domains/:id/ingest", {
      params: { id: DomainId },
      query: {
        from: line(320).annotate({ description: "the envelope sender. Empty for the null sender of a bounce" }),
        recipient: Recipients,
        client: Schema.optionalKey(
          Schema.String.annotate({
            description: "address of the server that sent the mail to the relay. Used for SPF"
          }).check(Schema.makeFilter((text) => (isIP(text) === 0 ? "Expected an IPv4 or IPv6 address" : undefined)))
        ),
        helo: Schema.optionalKey(line(255).annotate({ description: "the HELO or EHLO name of that server" }))
      },
      headers: { "idempotency-key": Schema.optionalKey(IdempotencyKey) },
      payload: HttpApiSchema.StreamUint8Array({ contentType: "message/rfc822" }),
      success: Schema.Struct({ inbound_email_id: InboundEmailId }).pipe(HttpApiSchema.status(202)),
      error: [
        Invalid.http,
        NotFound.http,
        TooLarge.http,
        Unprocessable.http,
        MailRefusal.pipe(HttpApiSchema.status(422)),
        TooManyRequests.http,
        Unavailable.http
      ]
    })
      .annotateMerge(IngestKeys.allowed)
      .annotateMerge(WholeBody.ownReader)
      .annotateMerge(Context.make(Repeatable, ["recipient"]))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Hand a mail over",
          description:
            'For a relay where Inlet has no port 25. The body is the raw message. 202 only after the commit that SMTP answers with 250. A refusal has SMTP\'s reply in the body as `"smtp": {"code", "enhanced", "text"}`, and the refused `recipients`. 413 and 422 with `smtp` are final. Retry 429 and 503 after `Retry-After`, lost answers and other 5xx. After 400, 401, 403, 404 or 422 without `smtp`, keep the mail and alert the operator. Only the 400 for a body that broke off is retried. A repeated message is stored once: one with a Message-ID is recognized by its content, without the fields that relays add. The message is stored for all recipients or none. The event has `envelope.relayed`, because `client` and `helo` come from the relay and are not verified.'
        })
      )
  )
  .middleware(KnownParameters)
  .middleware(Authorization)
  .annotateMerge(OpenApi.annotations({ title: "Ingest", description: "Mail from a relay over HTTP" })) {}
