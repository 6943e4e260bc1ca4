import { Schema, SchemaTransformation } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { BriefEvent } from "../../events/BriefEvent.ts"
import { Conflict, Invalid, NotFound, TooLarge, TooManyRequests, Unavailable } from "../../model/ApiError.ts"
import { DomainId } from "../../model/Domain.ts"
import { InboundEmailId } from "../../model/InboundEmail.ts"
import { Authentication } from "../../model/InboundEvent.ts"
import { SampleName } from "../../simulate/Sample.ts"
import { Authorization } from "../requests/Authorization.ts"
import * as Idempotency from "../requests/Idempotency.ts"
import { KnownParameters } from "../requests/KnownParameters.ts"
import { MessageMemory } from "../requests/MessageMemory.ts"
import * as PageQuery from "../requests/PageQuery.ts"
import * as WholeBody from "../requests/WholeBody.ts"

/** Text of one line, because a line break would end the header field. */
const line = (most: number, description: string) =>
  Schema.String.annotate({ description }).check(
    Schema.isPattern(/^[^\p{Cc}\p{Zl}\p{Zp}]*$/u, { message: "Expected text of one line" }),
    Schema.isMaxLength(most, { message: `Expected at most ${most} characters` })
  )

const Recipient = line(320, "an address at this domain, inbox@<domain> by default")

const From = line(
  998,
  "the sender in header and envelope, `ada@example.com` or `Ada <ada@example.com>`. Empty for the null sender of a bounce"
)

/** Fields that the library writes itself, and invalid field names. */
const headerName = /^(?!content-|mime-version$)[!-9;-~]{1,76}$/i

const Headers = Schema.Record(Schema.String, line(10_000, "the value of the field"))
  .annotate({ description: "additional header fields by name" })
  .check(
    Schema.makeFilter((headers) => {
      const wrong = Object.keys(headers).find((name) => !headerName.test(name))
      return wrong === undefined
        ? undefined
        : `Expected names of header fields, but for Content-… and MIME-Version: a message with those is sent whole, as message/rfc822`
    })
  )

const MediaType = Schema.String.annotate({ description: "the media type, by default that of the file name" }).check(
  Schema.isPattern(/^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}$/, { message: "Expected a type such as application/pdf" })
)

const verdicts = Authentication.fields

/** The fields of a mail, or a sample. Given fields override those of the sample. */
const SimulatedMail = Schema.Struct({
  sample: Schema.optionalKey(SampleName),
  recipient: Schema.optionalKey(Recipient),
  from: Schema.optionalKey(From),
  subject: Schema.optionalKey(line(10_000, "the Subject field")),
  text: Schema.optionalKey(Schema.String.annotate({ description: "the plain text part" })),
  html: Schema.optionalKey(Schema.String.annotate({ description: "the HTML part" })),
  headers: Schema.optionalKey(Headers),
  inReplyTo: Schema.optionalKey(line(998, "the Message-ID of the answered mail")),
  attachments: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        filename: Schema.optionalKey(line(255, "the file name")),
        contentType: Schema.optionalKey(MediaType),
        content: Schema.Uint8ArrayFromBase64.pipe(Schema.annotateEncoded({ description: "the content in base64" }))
      })
    )
      .annotate({ description: "attached files" })
      .check(Schema.isMaxLength(100, { message: "Expected at most 100 attachments" }))
  ),
  authentication: Schema.optionalKey(
    Schema.Struct({
      spf: Schema.optionalKey(
        verdicts.spf.annotate({ description: "whether the client may send for the envelope sender" })
      ),
      dkim: Schema.optionalKey(verdicts.dkim.annotate({ description: "whether a signature of a domain is valid" })),
      dmarc: Schema.optionalKey(
        verdicts.dmarc.annotate({ description: "whether SPF or DKIM confirm the domain of the From field" })
      ),
      arc: Schema.optionalKey(
        verdicts.arc.annotate({ description: "whether the seals of earlier servers on the way are valid" })
      )
    }).annotate({ description: "the verdicts about the sender, `none` by default" })
  )
}).annotate({ identifier: "SimulatedMail" })
export type SimulatedMail = typeof SimulatedMail.Type

/** A raw message. */
const Raw = Schema.Uint8Array.pipe(
  Schema.decodeTo(
    Schema.Struct({ message: Schema.Uint8Array }),
    SchemaTransformation.transform({ decode: (message) => ({ message }), encode: ({ message }) => message })
  ),
  HttpApiSchema.asUint8Array({ contentType: "message/rfc822" })
)

export class SimulateApi extends HttpApiGroup.make("simulate")
  .add(
    HttpApiEndpoint.post("simulate", "/api/domains/:id/simulate", {
      params: { id: DomainId },
      query: {
        recipient: Schema.optionalKey(Recipient),
        from: Schema.optionalKey(From),
        wait: Schema.optionalKey(PageQuery.between(0, 60, "seconds to wait for the event"))
      },
      headers: Idempotency.headers,
      // A client encodes with the first matching member, and any object matches the mail from fields.
      payload: [Raw, SimulatedMail],
      success: [
        Schema.Struct({ inbound_email_id: InboundEmailId, events: Schema.Array(BriefEvent) }).pipe(
          HttpApiSchema.status(201)
        ),
        Schema.Struct({ inbound_email_id: InboundEmailId }).pipe(HttpApiSchema.status(202))
      ],
      error: [Invalid.http, NotFound.http, Conflict.http, TooLarge.http, TooManyRequests.http, Unavailable.http]
    })
      .middleware(Idempotency.Idempotency)
      .middleware(MessageMemory)
      .annotateMerge(WholeBody.ownReader)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Simulate an incoming mail",
          description:
            "The body has the fields of a mail, a sample, or a whole message as message/rfc822. Inlet stores, counts, parses and delivers it like SMTP mail. 202 once it is stored, or with `wait` 201 and its brief event. The same bytes for the same recipient are one mail, like a sender's retry. 409 if SMTP would refuse the recipient, 413 beyond MAX_MESSAGE_BYTES, 429 beyond the daily limit. `envelope.remoteAddress` is `simulate`, which SMTP mail never has."
        })
      )
  )
  .middleware(KnownParameters)
  .middleware(Authorization)
  .annotateMerge(OpenApi.annotations({ title: "Simulate", description: "Test mail without SMTP" })) {}
