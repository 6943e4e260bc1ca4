import type { Canonicalization } from "./DkimCanonical.ts"
import * as PlainHeader from "./PlainHeader.ts"
import * as TagList from "./TagList.ts"

/** The tags of a signature (RFC 6376, section 3.5). */
export interface DkimSignature {
  readonly field: PlainHeader.PlainField
  readonly algorithm: "rsa-sha256" | "ed25519-sha256"
  readonly headerForm: Canonicalization
  readonly bodyForm: Canonicalization
  readonly domain: string
  readonly selector: string
  /** The identity (`i=`), or undefined. */
  readonly identity: string | undefined
  /** The signed fields in lower case, in the order of signing. */
  readonly names: ReadonlyArray<string>
  /** Base64 as written. */
  readonly bodyHash: string
  readonly signature: string
  /** In seconds since 1970. */
  readonly expires: number
}

const label = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
const domainName = new RegExp(`^(?=.{1,253}$)${label}(?:\\.${label})+$`)
const selectorName = new RegExp(`^(?=.{1,253}$)${label}(?:\\.${label})*$`)
/** Matches an identity (`i=`) without characters that need quotes or escapes (RFC 6376, section 2.11). */
const identityName = /^(?:[\w!#$%&'*+/?^`{|}~-]+(?:\.[\w!#$%&'*+/?^`{|}~-]+)*)?@([^@]+)$/

const forms: ReadonlyMap<string, readonly [header: Canonicalization, body: Canonicalization]> = new Map([
  ["simple", ["simple", "simple"]],
  ["relaxed", ["relaxed", "simple"]],
  ["simple/simple", ["simple", "simple"]],
  ["simple/relaxed", ["simple", "relaxed"]],
  ["relaxed/simple", ["relaxed", "simple"]],
  ["relaxed/relaxed", ["relaxed", "relaxed"]]
])

/**
 * Parses a usual DKIM-Signature field: all required tags and no length (RFC 6376, section 3.5), an algorithm of RFC
 * 8301 or 8463, unambiguous values, and a signed From (section 6.1.1). Undefined for any other.
 */
export const read = (field: PlainHeader.PlainField): DkimSignature | undefined => {
  const tags = TagList.read(PlainHeader.value(field.line))
  return tags?.get("v") === "1" ? ordinary(field, tags, tags.get("i")) : undefined
}

/** The same for an ARC-Message-Signature, without a version, and with a number as `i=` (RFC 8617, section 4.1.2). */
export const readSealed = (field: PlainHeader.PlainField): DkimSignature | undefined => {
  const tags = TagList.read(PlainHeader.value(field.line))
  return tags === undefined ? undefined : ordinary(field, tags, undefined)
}

const ordinary = (
  field: PlainHeader.PlainField,
  tags: ReadonlyMap<string, string>,
  identity: string | undefined
): DkimSignature | undefined => {
  const algorithm = tags.get("a")
  const form = forms.get(tags.get("c") ?? "simple")
  const domain = tags.get("d") ?? ""
  const selector = tags.get("s") ?? ""
  const names = withoutBlanks(tags.get("h")).toLowerCase().split(":")
  const bodyHash = withoutBlanks(tags.get("bh"))
  const signature = withoutBlanks(tags.get("b"))
  const signed = seconds(tags.get("t"), 0)
  const expires = seconds(tags.get("x"), Number.POSITIVE_INFINITY)
  if (
    (algorithm !== "rsa-sha256" && algorithm !== "ed25519-sha256") ||
    form === undefined ||
    !domainName.test(domain) ||
    !selectorName.test(selector) ||
    !names.includes("from") ||
    bodyHash === "" ||
    !/^[A-Za-z0-9+/]+={0,2}$/.test(signature) ||
    // NaN for an invalid number.
    !(signed < expires) ||
    tags.has("l") ||
    (tags.get("q") ?? "dns/txt") !== "dns/txt" ||
    (identity !== undefined && !isOf(domain, identity))
  ) {
    return undefined
  }
  const [headerForm, bodyForm] = form
  return {
    field,
    algorithm,
    headerForm,
    bodyForm,
    domain,
    selector,
    identity,
    names,
    bodyHash,
    signature,
    expires
  }
}

const withoutBlanks = (value: string | undefined) => value?.replaceAll(" ", "") ?? ""

const seconds = (value: string | undefined, otherwise: number): number =>
  value === undefined ? otherwise : /^\d{1,12}$/.test(value) ? Number(value) : Number.NaN

/** Whether an identity is in this domain or a subdomain (RFC 6376, section 3.5). */
const isOf = (domain: string, identity: string): boolean => {
  const [, own] = identityName.exec(identity) ?? []
  return (
    own !== undefined &&
    identity.length < 500 &&
    domainName.test(own) &&
    `.${own.toLowerCase()}`.endsWith(`.${domain.toLowerCase()}`)
  )
}
