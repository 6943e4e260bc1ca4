import type { Attachment } from "../../model/InboundEvent.ts"
import type { MailPart } from "./WebhookFormat.ts"

/** Fields of a delivery report, for machines (RFC 3464). */
export const type = "message/delivery-status"

/**
 * True for the fields of a delivery report, unless its sender made them a file. Mail libraries take them
 * for neither text nor a file, so a request in the format of a provider has them as neither.
 */
export const isOne = ({
  contentType,
  disposition,
  filename
}: Pick<Attachment, "contentType" | "disposition" | "filename">): boolean =>
  contentType === type && filename === null && disposition !== "attachment"

/** The parts that are files to the libraries of receivers. */
export const files = (parts: ReadonlyArray<MailPart>): ReadonlyArray<MailPart> => parts.filter((part) => !isOne(part))

/** A form field with the reports of a mail, in formats that have no raw message. Providers have no such field. */
export const fields = (parts: ReadonlyArray<MailPart>): ReadonlyArray<readonly [name: string, value: string]> => {
  const reports = parts.filter(isOne).map(({ content }) => new TextDecoder().decode(content))
  return reports.length === 0 ? [] : [["delivery-status", reports.join("\n")]]
}
