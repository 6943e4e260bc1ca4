import type { FailedRecipient, MailKind } from "../model/MailKind.ts"
import type { Attached } from "./Body.ts"
import * as HeaderBlock from "./HeaderBlock.ts"
import * as HeaderText from "./HeaderText.ts"

const mostRecipients = 20
const longest = 500

/** Bytes of a part that are read. */
const mostBytes = 64 * 1024

/** The types of a delivery status (RFC 3464, RFC 6533). */
export const isStatus = (type: string): boolean =>
  type === "message/delivery-status" || type === "message/global-delivery-status"

/** The types of the mail that bounced, whole or its header. */
const isOriginal = (type: string): boolean =>
  /^(?:message\/(?:rfc822|global|rfc822-headers|global-headers)|text\/rfc822-headers)$/.test(type)

/** Reads the delivery status of a bounce, and which mail bounced. */
export const of = (attachments: ReadonlyArray<Attached>): Extract<MailKind, { readonly type: "bounce" }> => {
  const status = attachments.find(({ contentType }) => isStatus(contentType))
  const original = attachments.find(({ contentType }) => isOriginal(contentType))
  return {
    type: "bounce",
    recipients: status === undefined ? [] : recipients(status.content.subarray(0, mostBytes)),
    originalMessageId: original === undefined ? null : messageId(original.content.subarray(0, mostBytes))
  }
}

/** The groups of fields, one for the message and one for each recipient. */
const recipients = (content: Uint8Array): ReadonlyArray<FailedRecipient> => {
  const found: Array<FailedRecipient> = []
  let at = 0
  while (at < content.byteLength && found.length < mostRecipients) {
    const { end, fields } = HeaderBlock.read(content.subarray(at))
    if (end === 0) break
    at += end
    const text = textOf(fields)
    const address = untyped(text("final-recipient")) ?? untyped(text("original-recipient"))
    if (address === null) continue
    found.push({
      address,
      action: text("action")?.toLowerCase() ?? null,
      status: /^\d\.\d{1,3}\.\d{1,3}/.exec(text("status") ?? "")?.[0] ?? null,
      diagnostic: untyped(text("diagnostic-code"))
    })
  }
  return found
}

const textOf = (fields: ReadonlyArray<HeaderBlock.HeaderField>) => (name: string) => {
  const field = fields.find((candidate) => candidate.name.toLowerCase() === name)
  return field === undefined ? null : HeaderText.oneLine(HeaderText.rawValue(field)).slice(0, longest).toWellFormed()
}

/** The value after its type, as in `rfc822; ada@example.org`. */
const untyped = (text: string | null): string | null => text?.replace(/^[\w.-]+\s*;\s*/, "").trim() || null

const messageId = (content: Uint8Array): string | null => textOf(HeaderBlock.fields(content))("message-id")
