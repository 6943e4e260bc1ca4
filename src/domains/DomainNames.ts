import { domainToASCII, domainToUnicode } from "node:url"
import { Effect } from "effect"
import { parse as parseSuffix } from "tldts"
import { Invalid } from "../model/ApiError.ts"
import { DomainName } from "../model/Domain.ts"
import { txtName } from "./DnsRecords.ts"

/** DNS names have at most 253 characters, including the name of the ownership record. */
const longestVerifiable = 253 - txtName(DomainName.make("")).length

const label = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/

/**
 * Parses a typed name to its canonical form: lower case, without a trailing dot, Unicode as `xn--`. Fails for names
 * that cannot be registered: public suffixes, addresses, single labels, and look-alikes that IDNA would silently
 * convert (full-width letters, soft hyphens).
 */
export const parse = Effect.fnUntraced(function* (input: string) {
  const name = canonical(input)
  const invalid = (reason: string) =>
    new Invalid({ message: `domain: Expected a name such as example.com or mail.example.com; ${reason}` })

  if (name === undefined) return yield* invalid("this is not a valid domain name")
  if (name.length > longestVerifiable) {
    return yield* invalid(
      `this has ${name.length} characters, and beyond ${longestVerifiable} the name of its TXT record, ${txtName(DomainName.make("<name>"))}, is too long for DNS`
    )
  }
  const { domain, isIp } = parseSuffix(name, { allowPrivateDomains: true })
  if (isIp === true || /\.\d+$/.test(name)) return yield* invalid("this is an address")
  if (!name.includes(".")) return yield* invalid("this is a single label")
  if (domain === null) return yield* invalid("this is a public suffix that nobody can own")
  return DomainName.make(name)
})

/** Matches nearly all names, for which IDNA changes nothing and would be the largest cost of a `RCPT`. */
const isPlain = (name: string) => /^(?:[a-z0-9-]+\.)*[a-z][a-z0-9-]*$/.test(name) && !name.includes("xn--")

/** The maximum length of a typed name, because composing a long run of marks is quadratic. */
const longestTyped = 1_024

/** The same for the domain of an envelope address, without a reason for the failure. */
export const canonical = (input: string): string | undefined => {
  if (input.length > longestTyped) return undefined
  const typed = input.normalize("NFC").toLowerCase().replace(/\.$/, "")
  const plain = isPlain(typed)
  const ascii = plain ? typed : domainToASCII(typed)
  if (ascii === "" || ascii.length > 253 || !ascii.split(".").every((part) => label.test(part))) return undefined
  if (plain) return ascii
  // A name that IDNA converts to another spelling, or an A-label without a U-label, differs from the typed name.
  const unfolded = typed === ascii ? domainToASCII(domainToUnicode(ascii)) === ascii : domainToUnicode(ascii) === typed
  const fake = ascii.split(".").some((part) => part.startsWith("xn--") && domainToUnicode(part) === part)
  return unfolded && !fake ? ascii : undefined
}

/** An address with its domain in canonical form, or as it is without a valid one. */
export const ofAddress = (address: string): string => {
  const behind = address.lastIndexOf("@") + 1
  return address.slice(0, behind) + (canonical(address.slice(behind)) ?? address.slice(behind))
}

/**
 * The spellings of an address, a name, or a part of one: as typed, with A-labels (`xn--mnchen-3ya`) and in Unicode
 * (`münchen`). Mail has either of them. A text that is longer than any name is left as typed.
 */
export const spellings = (typed: string): ReadonlyArray<string> => {
  if (typed.length > longestTyped || (/^\p{ASCII}*$/u.test(typed) && !/xn--/i.test(typed))) return [typed]
  const behind = typed.lastIndexOf("@") + 1
  const domain = typed.slice(behind)
  const forms = [domain, domainToASCII(domain), domainToUnicode(domain)].filter((form) => form !== "" || domain === "")
  return [...new Set(forms)].map((form) => typed.slice(0, behind) + form)
}

/** Checks whether `name` is `parent` or a subdomain. */
export const isWithin = (name: string, parent: string): boolean => name === parent || name.endsWith(`.${parent}`)
