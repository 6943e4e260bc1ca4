import type { Spam } from "../../model/Spam.ts"

/** A header field or form field with its value. */
type HeaderPair = readonly [name: string, value: string]

/** Whether a scan has a verdict. Without one, no spam field is sent. */
const scanned = (spam: Spam | undefined): spam is Spam & { readonly score: number } =>
  spam !== undefined && spam.verdict !== "unknown" && spam.score !== null

/** These fields know only spam, so a virus is reported as spam. */
const flag = ({ verdict }: Spam): "Yes" | "No" => (verdict === "clean" ? "No" : "Yes")

/** The fields that Postmark writes into the header of a mail, and SpamAssassin. */
export const postmark = (spam: Spam | undefined): ReadonlyArray<HeaderPair> =>
  scanned(spam)
    ? [
        ["X-Spam-Status", flag(spam)],
        ["X-Spam-Score", `${spam.score}`],
        ["X-Spam-Tests", spam.symbols.map(({ name }) => name).join(",")]
      ]
    : []

/** The fields of a Mailgun route, which it posts and writes into the header. */
export const mailgun = (spam: Spam | undefined): ReadonlyArray<HeaderPair> =>
  scanned(spam)
    ? [
        ["X-Mailgun-Sflag", flag(spam)],
        ["X-Mailgun-Sscore", `${spam.score}`]
      ]
    : []

/** The fields of SendGrid's Inbound Parse. */
export const sendgrid = (spam: Spam | undefined): ReadonlyArray<HeaderPair> =>
  scanned(spam)
    ? [
        ["spam_score", `${spam.score}`],
        ["spam_report", report(spam)]
      ]
    : []

/** The report of Mandrill, if the mail was scanned. */
export const mandrill = (spam: Spam | undefined) =>
  scanned(spam)
    ? {
        spam_report: {
          score: spam.score,
          matched_rules: spam.symbols.map(({ name, score }) => ({ name, score, description: "" }))
        }
      }
    : {}

const report = ({ required, score, symbols, virus }: Spam): string =>
  [
    `Content analysis details: (${score} points${required === null ? "" : `, ${required} required`})`,
    ...(virus === null ? [] : [`Virus: ${virus}`]),
    "",
    " pts rule name",
    "---- ----------------------",
    ...symbols.map(({ name, score }) => `${`${score}`.padStart(4)} ${name}`),
    ""
  ].join("\n")

/** Header lines in front of a message. Folds after each test, so that no line is long (RFC 5322, section 2.1.1). */
export const lines = (fields: ReadonlyArray<HeaderPair>): Buffer =>
  Buffer.from(fields.map(([name, value]) => `${name}: ${value.replaceAll(",", ",\r\n\t")}\r\n`).join(""))
