import { Flag } from "effect/cli"
import { WebhookAction } from "../../model/Webhook.ts"

// The flags of `inlet webhooks create` and `update`.

export const action = Flag.Literals("action", WebhookAction.literals).pipe(
  Flag.withDescription(
    "webhook posts events to --to and is the default beside it, pull keeps them for `inlet listen --take`, hold keeps them and is the default of a new webhook, reject answers 550"
  ),
  Flag.optional
)
export const url = Flag.String("to").pipe(
  Flag.withDescription("URL for the events, with user name and password where the format takes them"),
  Flag.optional
)
export const format = Flag.String("format").pipe(
  Flag.withDescription("beside --to: inlet, raw, mailgun, postmark, sendgrid, sendgrid-raw or mandrill"),
  Flag.optional
)
export const signingKey = Flag.String("signing-key").pipe(
  Flag.withDescription(
    "beside --to: the key of a receiver for mailgun or mandrill. Without it Inlet makes one and prints it once"
  ),
  Flag.optional
)
export const description = Flag.String("description").pipe(
  Flag.withDescription("for people, up to 200 characters"),
  Flag.optional
)

export const kinds = Flag.KeyValuePair("kind").pipe(
  Flag.withDescription(
    "mail of a kind to another webhook, such as bounce=bounces or calendar=ID. none takes the kind back. May be repeated"
  ),
  Flag.optional
)
