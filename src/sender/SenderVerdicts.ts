import { domainToASCII } from "node:url"
import type { ARCResult, DMARCResult } from "mailauth"
import * as HeaderBlock from "../mime/HeaderBlock.ts"
import type { Envelope } from "../model/InboundEmail.ts"
import type { Authentication } from "../model/InboundEvent.ts"
import * as AuthenticationResults from "./AuthenticationResults.ts"
import type * as Dkim from "./Dkim.ts"
import * as Mailauth from "./Mailauth.ts"
import * as OrdinaryMessage from "./OrdinaryMessage.ts"
import type { Ask } from "./SenderDns.ts"
import * as SignedMessage from "./SignedMessage.ts"
import type * as Spf from "./Spf.ts"

/** The verdicts about a sender, with their header field (RFC 8601). */
export interface Checked {
  readonly authentication: Authentication
  readonly field: string | null
  /** The domain evaluated by DMARC, as an A-label. */
  readonly author: string | null
  /** What speaks for that domain. Null without one domain of an author. */
  readonly alignment: Alignment | null
}

/** The checks that passed in the name of the author's domain (RFC 9989, section 4.4). */
export interface Alignment {
  /** By the address of our own client. That of a relay's client is its word. */
  readonly spf: boolean
  readonly isSpfSaid: boolean
  readonly dkim: boolean
  /** The fields of recipients that such a signature covers in each of their occurrences, so that none was added later. */
  readonly covered: ReadonlyArray<"to" | "cc">
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
  /** Queries the policy of the author's domain. */
  readonly askPolicy: Ask
  readonly findSpf: Spf.Find
}

/**
 * Checks SPF (RFC 7208), DKIM (RFC 6376), ARC (RFC 8617) and DMARC (RFC 9989). Inlet's code verifies a usual message,
 * and the library any other, with the same results.
 */
export const find = (question: Question, means: Means): Promise<Checked> => {
  const { envelope, header, message } = question
  // Resolvers are typed by record type, which is only known here as text.
  const strictly = (ask: Ask) => ({ resolver: ask as never, strict: true })
  const ip = envelope.remoteAddress
  // Only signatures depend on the body.
  const anyhow = () => SignedMessage.read(isSigned(header) ? message : header, header.length, means)
  const sender = () =>
    ip === "" ? Promise.resolve(noClient) : means.findSpf(means.ask, { ip, helo: envelope.helo, sender: envelope.from })

  const ordinary = OrdinaryMessage.open(header)
  const signed =
    ordinary === undefined
      ? anyhow()
      : OrdinaryMessage.verify(ordinary, message.subarray(header.length), means).then((read) => read ?? anyhow())
  // Signatures query DNS first, and those of a usual message have done so by now.
  const sent = ordinary === undefined ? signed.then(sender) : sender()
  return Promise.all([signed, sent]).then(([{ arc: sets, authors, fromFields, signatures }, sent]) =>
    Mailauth.arc(sets, { ...strictly(means.ask), ip }).then((sealed) => {
      const evaluate = (counts: (result: string) => boolean) =>
        Mailauth.evaluateDmarc({
          ...strictly(means.askPolicy),
          headerFrom: [...authors],
          fromFields,
          spfDomains: counts(sent.result) ? [sent.domain] : [],
          dkimDomains: signatures.flatMap(({ domain, result }) =>
            counts(result) && domain !== undefined ? [{ domain }] : []
          ),
          arcResult: sealed
        })
      return evaluate(isPass).then((found) => {
        const mayPass = resultOf(found) === "fail" && [sent, ...signatures].some(({ result }) => result === "temperror")
        const better = mayPass ? evaluate((result) => isPass(result) || result === "temperror") : found
        return Promise.resolve(better).then((hoped) =>
          told(question, signatures, sent, sealed, resultOf(hoped) === "pass" ? unanswered(found) : found)
        )
      })
    })
  )
}

type Evaluated = Awaited<ReturnType<typeof Mailauth.evaluateDmarc>>

const isPass = (result: string) => result === "pass"

const resultOf = ({ response }: Evaluated) => (response === false ? undefined : response.status.result)

/**
 * A failure is none while DNS does not answer for a check that would make it a pass (RFC 7489, section 6.6.2). A domain
 * owner's policy does not apply to it.
 */
const unanswered = (found: Evaluated): Evaluated => {
  if (found.response === false || found.response.status.result !== "fail") return found
  const { info, status } = found.response
  const row = info.replace("dmarc=fail", "dmarc=temperror").replace(/ policy\.dmarc=\w+/, "")
  return { ...found, response: { ...found.response, info: row, status: { ...status, result: "temperror" } } }
}

/** The SPF result of a message whose relay did not name the client. */
const noClient: Spf.Finding = { result: "none", domain: "", info: "spf=none (the relay named no client)" }

const told = (
  question: Question,
  signatures: SignedMessage.SignedMessage["signatures"],
  sent: Spf.Finding,
  sealed: ARCResult,
  { dkimAligned, response: aligned }: Evaluated
): Checked => {
  const { authservId, message } = question
  const dkim = signatures.map(({ result }) => verdict(result))
  const authentication: Authentication = {
    spf: verdict(sent.result),
    dkim: dkim.find((one) => one === "pass") ?? dkim.find((one) => one !== "none") ?? "none",
    // Without a verdict the author is ambiguous: several From fields, or several addresses.
    dmarc: aligned === false ? (hasFrom(message) ? "permerror" : "none") : verdict(aligned.status.result),
    arc: verdict(sealed.status.result)
  }
  const author = aligned === false ? null : asciiOf(aligned.status.header?.from ?? "")
  return {
    authentication,
    author,
    alignment:
      aligned === false || author === null
        ? null
        : alignmentOf(author, aligned, dkimAligned, signatures, sent, question),
    field: AuthenticationResults.render(authservId, authentication, [
      ...signatures.map(({ info }) => info),
      sent.info,
      ...(sealed.info === undefined ? [] : [sealed.info]),
      aligned === false ? `dmarc=${authentication.dmarc}` : aligned.info
    ])
  }
}

/** The A-label of a domain. Null for what is none: all of these would be equal. */
const asciiOf = (domain: string): string | null => domainToASCII(domain.toLowerCase()) || null

/** With a DMARC record it decides. Without one, the author's domain or a parent of it must have passed. */
const alignmentOf = (
  author: string,
  { alignment, status }: DMARCResult,
  dkimAligned: ReadonlySet<string> | undefined,
  signatures: SignedMessage.SignedMessage["signatures"],
  sent: Spf.Finding,
  { envelope, header, message }: Question
): Alignment => {
  const isWithout = status.result === "none"
  const speaks = (domain: string) => {
    const name = asciiOf(domain)
    return name !== null && (isWithout ? `.${author}`.endsWith(`.${name}`) : dkimAligned?.has(name) === true)
  }
  const isSpfAligned = isWithout ? sent.result === "pass" && speaks(sent.domain) : alignment?.spf?.result !== undefined
  const passed = signatures.filter(
    ({ domain, result, signed }) => result === "pass" && signed.length > 0 && domain !== undefined && speaks(domain)
  )
  const own = passed.length === 0 ? passed : withoutAdded(passed, header)
  const spf = isSpfAligned && envelope.relayed !== true
  return {
    spf,
    isSpfSaid: isSpfAligned && !spf,
    dkim: own.length > 0,
    // Read only where it decides.
    covered: spf || own.length === 0 ? [] : coveredBy(own, message)
  }
}

const times = (list: ReadonlyArray<string>, name: string) => list.filter((one) => one === name).length

/** Fields that a message has once (RFC 5322, section 3.6; RFC 2045). Readers show the first one. */
const onceOnly = [
  "subject",
  "date",
  "message-id",
  "in-reply-to",
  "references",
  "reply-to",
  "sender",
  "content-type",
  "content-transfer-encoding"
]

/** The signatures that cover each of such fields. Anybody can add another subject to a signed message (RFC 6376, 8.15). */
const withoutAdded = (signatures: SignedMessage.SignedMessage["signatures"], header: Buffer) => {
  const names = HeaderBlock.fields(header).map(({ name }) => name.toLowerCase())
  const repeated = onceOnly.flatMap((name) => {
    const present = times(names, name)
    return present > 1 ? [{ name, present }] : []
  })
  return signatures.filter(({ signed }) => repeated.every(({ name, present }) => times(signed, name) >= present))
}

/** A signature covers the last fields of a name, as often as it names it (RFC 6376, section 5.4.2). */
const coveredBy = (
  signatures: SignedMessage.SignedMessage["signatures"],
  message: Buffer
): ReadonlyArray<"to" | "cc"> => {
  const names = HeaderBlock.fields(message).map(({ name }) => name.toLowerCase())
  return (["to", "cc"] as const).filter((name) => {
    const present = times(names, name)
    return present > 0 && signatures.some(({ signed }) => times(signed, name) >= present)
  })
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
