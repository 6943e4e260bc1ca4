import { Resolver } from "node:dns/promises"
import { once } from "node:events"
import { domainToASCII } from "node:url"
import * as Effect from "effect/Effect"
import { type AuthenticateResult, authenticate } from "mailauth"
import * as HeaderBlock from "../mime/HeaderBlock.ts"
import type { Envelope } from "../model/InboundEmail.ts"
import type { Authentication } from "../model/InboundEvent.ts"
import * as AuthenticationResults from "./AuthenticationResults.ts"

/** An answer of DNS, there or on its way. */
interface Answer {
  readonly promise: Promise<unknown>
  until: number
  isThere: boolean
}

/** The verdicts about a sender, and our field that tells them (RFC 8601). */
export interface Checked {
  readonly authentication: Authentication
  readonly field: string | null
  /** The domain that DMARC has judged, as an A-label. */
  readonly author: string | null
}

const everywhere = (verdict: Authentication["spf"]): Authentication => ({
  spf: verdict,
  dkim: verdict,
  dmarc: verdict,
  arc: verdict
})

/** The sender was not checked. */
export const unchecked: Checked = {
  authentication: everywhere("none"),
  field: null,
  author: null
}

/**
 * The verdicts for an event that names this author. A pass is told only where it is the
 * author's: an odd From field must not put one domain's pass beside another domain's name.
 */
export const verdictsFor = ({ author, authentication }: Checked, from: string | null): Authentication => {
  const named = from === null ? undefined : domainToASCII(from.slice(from.lastIndexOf("@") + 1).toLowerCase())
  return authentication.dmarc !== "pass" || (named !== undefined && named === author)
    ? authentication
    : { ...authentication, dmarc: "permerror" }
}

/** A larger header is not checked: the library's work on folded lines grows with their square. */
const longestHeader = 256 * 1024
const mostHeaderLines = 2_000

/** Bounds of all DNS for one message. */
const dnsMilliseconds = 5_000
const mostQuestions = 100

/** Node does not tell how long an answer may be kept, so none is kept for long. */
const answersKeptMilliseconds = 60_000
const failuresKeptMilliseconds = 30_000
const mostKept = 10_000

/**
 * Checks SPF (RFC 7208), DKIM (RFC 6376), DMARC (RFC 9989) and ARC (RFC 8617).
 * Asks DNS and nothing else; bounded in time, questions and the size of the
 * header. Never fails: a check that can't be made is a verdict too.
 */
export const make = (options: {
  readonly nameServers: ReadonlyArray<string> | undefined
  readonly authservId: string
}) => {
  const { authservId, nameServers } = options
  const resolver = new Resolver({ timeout: 1_000, tries: 2 })
  if (nameServers !== undefined) resolver.setServers(nameServers)
  const kept = new Map<string, Answer>()

  const ask = (name: string, type: string): Answer => {
    const key = `${type} ${name.toLowerCase()}`
    const known = kept.get(key)
    if (known !== undefined && known.until > performance.now()) return known
    const asked: Answer = {
      promise: resolver.resolve(name, type),
      until: performance.now() + answersKeptMilliseconds,
      isThere: false
    }
    kept.delete(key)
    kept.set(key, asked)
    asked.promise.then(
      () => {
        asked.isThere = true
      },
      () => {
        asked.isThere = true
        asked.until = performance.now() + failuresKeptMilliseconds
      }
    )
    // The oldest goes: a Map remembers the order of its entries.
    for (const oldest of kept.keys()) {
      if (kept.size <= mostKept) break
      kept.delete(oldest)
    }
    return asked
  }

  /** DNS for one message. */
  const bounded = () => {
    // Made when an answer has to be waited for: most are there.
    let expired: Promise<never> | undefined
    const deadline = () => {
      const over = once(AbortSignal.timeout(dnsMilliseconds), "abort")
      expired = over.then(() => Promise.reject(dnsError("ETIMEOUT", "no answer in time")))
      // When the time is up, all answers may be there.
      expired.catch(() => undefined)
      return expired
    }
    let questions = 0
    return (name: string, type: string): Promise<unknown> => {
      if (++questions > mostQuestions) {
        return Promise.reject(dnsError("ESERVFAIL", "too many questions for one message"))
      }
      const { isThere, promise } = ask(name, type)
      return isThere ? promise : Promise.race([promise, expired ?? deadline()])
    }
  }

  return Effect.fnUntraced(function* (envelope: Envelope, message: Uint8Array) {
    const header = headerOf(message)
    if (isTooLarge(header)) {
      const authentication = everywhere("permerror")
      return { authentication, field: AuthenticationResults.render(authservId, authentication), author: null }
    }
    const result = yield* Effect.option(
      Effect.tryPromise(() =>
        // Nothing but a signature has to do with the body.
        authenticate(isSigned(header) ? Buffer.from(message.buffer, message.byteOffset, message.byteLength) : header, {
          ip: envelope.remoteAddress,
          helo: envelope.helo,
          sender: envelope.from,
          mta: authservId,
          // As the RFCs have it: a body that was changed is a failure, for one.
          strict: true,
          // Its logos are fetched over HTTP.
          disableBimi: true,
          // Typed by record type, which is only known here as text.
          resolver: bounded() as never
        })
      )
    )
    if (result._tag === "None") {
      const authentication = everywhere("temperror")
      return { authentication, field: AuthenticationResults.render(authservId, authentication), author: null }
    }
    return told(result.value, authservId, message)
  })
}

const told = (result: AuthenticateResult, authservId: string, message: Uint8Array): Checked => {
  const dkim = result.dkim.results.map(({ status }) => verdict(status.result))
  const hasFrom = HeaderBlock.fields(message).some(({ name }) => name.toLowerCase() === "from")
  const authentication: Authentication = {
    spf: result.spf === false ? "none" : verdict(result.spf.status.result),
    dkim: dkim.find((one) => one === "pass") ?? dkim.find((one) => one !== "none") ?? "none",
    // No verdict at all means that it is not clear who the author is: several From fields, or several addresses.
    dmarc: result.dmarc === false ? (hasFrom ? "permerror" : "none") : verdict(result.dmarc.status.result),
    arc: result.arc === false ? "none" : verdict(result.arc.status.result)
  }
  // With its folded lines, and without the Received-SPF field that comes with it.
  const [field] = /^Authentication-Results: .*(?:\r\n[ \t].*)*/m.exec(result.headers) ?? []
  const dmarc = result.dmarc === false ? `;\r\n dmarc=${authentication.dmarc}` : ""
  const author = result.dmarc === false ? undefined : result.dmarc.status.header?.from
  return {
    authentication,
    author: author === undefined ? null : domainToASCII(author.toLowerCase()),
    field: AuthenticationResults.render(
      authservId,
      authentication,
      field === undefined ? undefined : `${field.trimEnd()}${dmarc}`
    )
  }
}

const verdicts: ReadonlyArray<string> = ["pass", "fail", "softfail", "neutral", "none", "temperror", "permerror"]

/** `policy` (RFC 8601, section 2.4), such as a key that is too short, is no proof of anything. */
const verdict = (result: string): Authentication["spf"] =>
  // Checked against the list of them.
  verdicts.includes(result) ? (result as Authentication["spf"]) : "neutral"

/** To the first empty line, which is where the library ends it. */
const headerOf = (message: Uint8Array): Buffer => {
  const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength)
  const ends = [bytes.indexOf("\r\n\r\n"), bytes.indexOf("\n\n")].flatMap((at) => (at === -1 ? [] : [at + 4]))
  return bytes.subarray(0, Math.min(bytes.length, ...ends))
}

const isTooLarge = (header: Buffer): boolean => {
  if (header.length > longestHeader + 4) return true
  let lines = 0
  for (let at = header.indexOf(0x0a); at !== -1; at = header.indexOf(0x0a, at + 1)) lines++
  return lines > mostHeaderLines + 2
}

/** Whether any line may be taken for the beginning of a signature, however the library reads it. */
const isSigned = (header: Buffer): boolean => /(?:^|[\r\n])[\t ]*(?:dkim|arc)-/i.test(header.toString("latin1"))

const dnsError = (code: string, message: string) => Object.assign(new Error(message), { code })
