import type { SMTPServerAddress } from "smtp-server"
import type { Reply } from "../intake/Reply.ts"

/** The parameters of the extensions that EHLO offers. smtp-server checks their values. */
const offered: Readonly<Record<"MAIL" | "RCPT", ReadonlySet<string>>> = {
  MAIL: new Set(["SIZE", "BODY", "SMTPUTF8"]),
  RCPT: new Set()
}

/** The reply to a command with a parameter of another extension (RFC 5321, section 4.1.1.11). */
const unknown: Reply = {
  code: 555,
  enhanced: "5.5.4",
  text: "Error: This server does not offer one of the parameters; send those of its EHLO reply",
  reason: "protocol"
}

/** The refusal of a command whose parameters were not offered, or undefined. Ignored, `NOTIFY` would bring no report. */
export const refusal = (command: "MAIL" | "RCPT", { args }: SMTPServerAddress): Reply | undefined =>
  Object.keys(args || {}).every((name) => offered[command].has(name.toUpperCase())) ? undefined : unknown
