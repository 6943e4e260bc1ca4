import type { HeaderValues } from "../content/HeaderValues.ts"
import type { MailKind } from "../model/MailKind.ts"
import type { Attached } from "./Body.ts"
import * as LocalTime from "./LocalTime.ts"

interface Facts {
  readonly headers: HeaderValues
  readonly subject: string
  readonly attachments: ReadonlyArray<Attached>
}

type Report = Extract<MailKind, { readonly type: "dmarc_report" | "tls_report" }>

const longest = 255

/** `submitter!domain!begin!end`, with or without an id (RFC 9990, section 3.5.2, and RFC 8460, section 5.1). */
const fileName =
  /^([^!\s]{1,255})!([^!\s]{1,255})!(\d{1,12})!(\d{1,12})(?:![^!\s]{1,255})?\.(xml|json|zip|gz|xml\.gz|json\.gz)$/i

const subjectForm = /^\s*Report[ -]Domain:\s*(\S+)\s+Submitter:\s*(\S+)/i

/**
 * Recognizes an aggregate report about DMARC or TLS by its type, the name of its attachment and its subject. The report
 * itself is not unpacked.
 */
export const of = ({ attachments, headers, subject }: Facts, reportType: string | undefined): Report | undefined => {
  const first = (name: string) => headers.get(name)?.slice(0, longest)
  const [, subjectDomain, subjectSubmitter] = subjectForm.exec(subject.slice(0, 3 * longest)) ?? []
  const isTlsPart = ({ contentType }: Attached) => /^application\/tlsrpt\+(?:gzip|json)$/.test(contentType)
  const named = attachments.slice(0, 20).flatMap((attachment) => {
    const match = fileName.exec(attachment.filename ?? "")
    return match === null ? [] : [{ attachment, match }]
  })[0]
  const file = attachments.find(isTlsPart) ?? named?.attachment ?? attachments.find(isArchive)
  const isTls =
    reportType === "tlsrpt" || (file !== undefined && isTlsPart(file)) || first("tls-report-domain") !== undefined
  if (!isTls && (file === undefined || (named === undefined && subjectDomain === undefined))) return undefined
  const [, submitter, domain, begin, end, ending] = named?.match ?? []
  return {
    type: isTls || /^json/i.test(ending ?? "") ? "tls_report" : "dmarc_report",
    submitter: first("tls-report-submitter") ?? submitter ?? subjectSubmitter?.slice(0, longest) ?? null,
    domain: first("tls-report-domain") ?? domain ?? subjectDomain?.slice(0, longest) ?? null,
    begin: time(begin),
    end: time(end),
    attachment: file?.index ?? null
  }
}

const isArchive = ({ contentType }: Attached): boolean =>
  /^application\/(?:gzip|x-gzip|zip|x-zip-compressed|xml)$|^text\/xml$/.test(contentType)

/** The time of a number of seconds since 1970. */
const time = (seconds: string | undefined): string | null => {
  const time = Number(seconds) * 1_000
  return seconds === undefined || LocalTime.yearOf(time) > 9_999 ? null : LocalTime.utc(time)
}
