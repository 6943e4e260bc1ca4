import { domainToASCII, domainToUnicode } from "node:url"
import { Effect } from "effect"
import { parse as parseSuffix } from "tldts"
import { Invalid } from "../model/ApiError.ts"
import { DomainName } from "../model/Domain.ts"
import { txtName } from "./DnsRecords.ts"

/** DNS has names of at most 253 characters, and that of the record which proves ownership is one of them. */
const longestVerifiable = 253 - txtName(DomainName.make("")).length

const label = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/

/**
 * The canonical form of a name a customer typed: lower case, one trailing dot
 * dropped, Unicode as `xn--`. Fails for names that can't be registered: public
 * suffixes, addresses, single labels, and look-alikes of another name that
 * IDNA would silently fold (full-width letters, soft hyphens).
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

/** Nearly all names: IDNA has nothing to say of them, and asking it costs more than all else at a `RCPT`. */
const isPlain = (name: string) => /^(?:[a-z0-9-]+\.)*[a-z][a-z0-9-]*$/.test(name) && !name.includes("xn--")

/** No name is typed longer, however its characters are composed. To compose a long run of marks takes as long as their square. */
const longestTyped = 1_024

/** The same for the domain of an envelope address, which names one of ours or nothing: no reason is needed. */
export const canonical = (input: string): string | undefined => {
  if (input.length > longestTyped) return undefined
  const typed = input.normalize("NFC").toLowerCase().replace(/\.$/, "")
  const plain = isPlain(typed)
  const ascii = plain ? typed : domainToASCII(typed)
  if (ascii === "" || ascii.length > 253 || !ascii.split(".").every((part) => label.test(part))) return undefined
  if (plain) return ascii
  // A name that IDNA folded into another spelling, or an A-label without a U-label, is not the name that was typed.
  const unfolded = typed === ascii ? domainToASCII(domainToUnicode(ascii)) === ascii : domainToUnicode(ascii) === typed
  const fake = ascii.split(".").some((part) => part.startsWith("xn--") && domainToUnicode(part) === part)
  return unfolded && !fake ? ascii : undefined
}

/** Checks whether `name` is `parent` or a subdomain. */
export const isWithin = (name: string, parent: string): boolean => name === parent || name.endsWith(`.${parent}`)
