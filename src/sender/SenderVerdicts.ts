import { domainToASCII } from "node:url"
import type { ARCResult, DMARCResult } from "mailauth"
import * as HeaderBlock from "../mime/HeaderBlock.ts"
import type { Envelope } from "../model/InboundEmail.ts"
import type { Authentication } from "../model/InboundEvent.ts"
import * as AuthenticationResults from "./AuthenticationResults.ts"
import type * as Dkim from "./Dkim.ts"
import * as Mailauth from "./Mailauth.ts"
import * as OrdinaryMessage from "./OrdinaryMessage.ts"
import * as SignedMessage from "./SignedMessage.ts"
import type * as Spf from "./Spf.ts"

/** The verdicts about a sender, with their header field (RFC 8601). */
export interface Checked {
  readonly authentication: Authentication
  readonly field: string | null
  /** The domain evaluated by DMARC, as an A-label. */
  readonly author: string | null
}

/** A message to check. */
export interface Question {
  readonly envelope: Envelope
  readonly message: Buffer
  /** Up to its first empty line. */
  readonly header: Buffer
  readonly authservId: string
}

/** The inputs of a sender check. */
export interface Means extends Dkim.Means {
  readonly findSpf: Spf.Find
}

/**
 * Checks SPF (RFC 7208), DKIM (RFC 6376), ARC (RFC 8617) and DMARC (RFC 9989). Inlet's code verifies a usual message,
 * and the library any other, with the same results.
 */
export const find = (question: Question, means: Means): Promise<Checked> => {
  const { envelope, header, message } = question
  // Resolvers are typed by record type, which is only known here as text.
  const strictly = { resolver: means.ask as never, strict: true }
  const ip = envelope.remoteAddress
  // Only signatures depend on the body.
  const anyhow = () => SignedMessage.read(isSigned(header) ? message : header, means)
  const sender = () => means.findSpf(means.ask, { ip, helo: envelope.helo, sender: envelope.from })

  const ordinary = OrdinaryMessage.open(header)
  const signed =
    ordinary === undefined
      ? anyhow()
      : OrdinaryMessage.verify(ordinary, message.subarray(header.length), means).then((read) => read ?? anyhow())
  // Signatures query DNS first, and those of a usual message have done so by now.
  const sent = ordinary === undefined ? signed.then(sender) : sender()
  return Promise.all([signed, sent]).then(([{ arc: sets, authors, fromFields, signatures }, sent]) =>
    Mailauth.arc(sets, { ...strictly, ip }).then((sealed) =>
      Mailauth.evaluateDmarc({
        ...strictly,
        headerFrom: [...authors],
        fromFields,
        spfDomains: sent.result === "pass" ? [sent.domain] : [],
        dkimDomains: signatures.flatMap(({ domain, result }) =>
          result === "pass" && domain !== undefined ? [{ domain }] : []
        ),
        arcResult: sealed
      }).then(({ response }) => told(question, signatures, sent, sealed, response))
    )
  )
}

const told = (
  { authservId, message }: Question,
  signatures: SignedMessage.SignedMessage["signatures"],
  sent: Spf.Finding,
  sealed: ARCResult,
  aligned: DMARCResult | false
): Checked => {
  const dkim = signatures.map(({ result }) => verdict(result))
  const authentication: Authentication = {
    spf: verdict(sent.result),
    dkim: dkim.find((one) => one === "pass") ?? dkim.find((one) => one !== "none") ?? "none",
    // Without a verdict the author is ambiguous: several From fields, or several addresses.
    dmarc: aligned === false ? (hasFrom(message) ? "permerror" : "none") : verdict(aligned.status.result),
    arc: verdict(sealed.status.result)
  }
  const author = aligned === false ? undefined : aligned.status.header?.from
  return {
    authentication,
    author: author === undefined ? null : domainToASCII(author.toLowerCase()),
    field: AuthenticationResults.render(authservId, authentication, [
      ...signatures.map(({ info }) => info),
      sent.info,
      ...(sealed.info === undefined ? [] : [sealed.info]),
      aligned === false ? `dmarc=${authentication.dmarc}` : aligned.info
    ])
  }
}

const hasFrom = (message: Buffer): boolean =>
  HeaderBlock.fields(message).some(({ name }) => name.toLowerCase() === "from")

const verdicts: ReadonlyArray<string> = ["pass", "fail", "softfail", "neutral", "none", "temperror", "permerror"]

/** `policy` (RFC 8601, section 2.4), for example for a short key, proves nothing. */
const verdict = (result: string): Authentication["spf"] =>
  // Checked against the list of verdicts.
  verdicts.includes(result) ? (result as Authentication["spf"]) : "neutral"

/** Whether any line could be read as the start of a signature by the library. */
const isSigned = (header: Buffer): boolean => /(?:^|[\r\n])[\t ]*(?:dkim|arc)-/i.test(header.toString("latin1"))
