import libmime from "libmime"
import type { MailPart } from "./WebhookFormat.ts"

/** The file name of a part. One without a name gets one, because Django drops nameless files. */
export const of = ({ contentType, filename }: MailPart, index: number): string =>
  filename ?? `attachment-${index + 1}.${extensionOf(contentType)}`

const extensionOf = (contentType: string) =>
  contentType === "message/rfc822" ? "eml" : libmime.detectExtension(contentType)

/** A Content-ID without angle brackets, or null. */
export const bareId = ({ contentId }: MailPart): string | null => contentId?.replace(/^<|>$/g, "") || null
