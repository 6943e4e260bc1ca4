import { Effect, Schema } from "effect"
import { createTransport, type SendMailOptions } from "nodemailer"

/** The server's refusal as received by the sender. */
export class Refused extends Schema.TaggedError<Refused>()("Refused", {
  code: Schema.Int,
  response: Schema.String
}) {}

/** Sends a mail with nodemailer to a local SMTP server. Returns the reply after DATA. */
export const send = Effect.fnUntraced(function* (port: number, mail: SendMailOptions) {
  const transport = createTransport({ host: "127.0.0.1", port, tls: { rejectUnauthorized: false } })
  return yield* Effect.tryPromise({
    try: () => transport.sendMail({ from: "sender@sender.example", subject: "Hello", text: "Hi", ...mail }),
    catch: (cause) =>
      new Refused({
        code: Number((cause as { readonly responseCode?: number }).responseCode ?? 0),
        response: String((cause as { readonly response?: string }).response ?? cause)
      })
  }).pipe(
    Effect.map(({ response }): string => response),
    Effect.ensuring(Effect.sync(() => transport.close()))
  )
})
