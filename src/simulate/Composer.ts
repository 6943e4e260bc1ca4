import { Effect } from "effect"
import MailComposer from "nodemailer/lib/mail-composer"
import type { Draft } from "./Sample.ts"

/** Composes a mail as a mail program would. */
export const compose = (
  draft: Draft,
  about: { readonly to: string; readonly messageId: string; readonly date: Date }
) =>
  Effect.callback<Buffer>((resume) => {
    const { attachments = [], from, headers = {}, html, inReplyTo, isReport = false, subject, text } = draft
    const message = new MailComposer({
      from,
      to: about.to,
      subject,
      // A mail without content has an empty part.
      ...(text === undefined ? {} : { text }),
      ...(html === undefined ? {} : { html }),
      ...(inReplyTo === undefined ? {} : { inReplyTo, references: inReplyTo }),
      headers: { ...headers },
      date: about.date,
      ...(names(headers).has("message-id") ? {} : { messageId: about.messageId }),
      attachments: attachments.map(({ content, contentType, filename }) => ({
        content: Buffer.from(content),
        contentType,
        // False for a part without a name.
        filename: filename ?? false,
        ...(isReport ? { contentDisposition: "inline" as const } : {})
      })),
      newline: "windows",
      disableFileAccess: true,
      disableUrlAccess: true
    }).compile()
    if (isReport) message.setHeader("Content-Type", "multipart/report; report-type=delivery-status")
    message.build((error, bytes) => resume(error ? Effect.die(error) : Effect.succeed(bytes)))
  })

const names = (headers: Readonly<Record<string, string>>) =>
  new Set(Object.keys(headers).map((name) => name.toLowerCase()))
