import type { Contents } from "../mime/Mime.ts"
import type { MailKind } from "../model/MailKind.ts"

/** Subjects of replies in the languages of the usual mail programs. */
const replySubject = /^\s*(?:re|aw|antw|sv|vs|odp|ynt|res|rif|r)(?:\[\d+\])?\s*:/i

/** Whether a mail answers another one, and so can be part of a mail loop. Mail of lists and programs is not counted. */
export const isOne = ({ inReplyTo, references, subject }: Contents, kind: MailKind): boolean =>
  kind.type === "auto_reply" ||
  kind.type === "bounce" ||
  (kind.type === "person" && (inReplyTo !== null || references.length > 0 || replySubject.test(subject)))
