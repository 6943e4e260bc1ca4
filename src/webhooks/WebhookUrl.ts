import { Effect, Redacted, Result } from "effect"
import { Egress, type Unreachable } from "../delivery/Egress.ts"
import { Invalid } from "../model/ApiError.ts"

const longest = 2_048

/** `URL.parse` drops them, or encodes them as a part of the path. */
const blank = /[\p{Cc}\s]/u

const withoutCredentials = "a URL without user name and password"

/** Inlet's own format has no user name and password. */
export const plain = new Invalid({
  message: `webhookUrl: Expected ${withoutCredentials} for the format inlet. Requests in other formats have them as Authorization`
})

/** A webhook URL in normal form, in production https only. `field` names it in errors. */
export const parse = Effect.fnUntraced(function* (
  text: string,
  options: { readonly production: boolean; readonly field?: string }
) {
  const { field = "webhookUrl" } = options
  const invalid = (expected: string) => new Invalid({ message: `${field}: Expected ${expected}` })
  if (blank.test(text)) return yield* invalid("a URL without spaces and control characters")
  const url = URL.parse(text)
  if (text.length > longest) return yield* invalid(`a URL of at most ${longest} characters`)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return yield* invalid("an absolute http or https URL such as https://example.com/inbound")
  }
  if (url.username !== "" || url.password !== "") return yield* invalid(withoutCredentials)
  if (text.includes("#")) return yield* invalid("a URL without a fragment (#)")
  if (options.production && url.protocol !== "https:") return yield* invalid("an https URL; http is for development")
  if (url.href.length > longest) {
    return yield* invalid(`a URL of at most ${longest} characters, also when percent-encoded`)
  }
  return url.href
})

/** Maximum bytes of a user name and of a password. */
const longestName = 256

/**
 * A webhook URL in normal form, and the user name and password that were in it. They are kept encrypted, and neither
 * stored nor shown with the URL.
 */
export const withCredentials = Effect.fnUntraced(function* (text: string, options: { readonly production: boolean }) {
  const url = blank.test(text) ? null : URL.parse(text)
  if (url === null || (url.username === "" && url.password === "")) {
    return { url: yield* parse(text, options), credentials: {} }
  }
  const user = unescaped(url.username)
  const password = unescaped(url.password)
  if (!isName(user) || !isName(password) || user.includes(":")) {
    return yield* new Invalid({
      message: `webhookUrl: Expected a user name and a password of 1 to ${longestName} bytes each, without control characters, and without a colon in the name`
    })
  }
  url.username = ""
  url.password = ""
  return { url: yield* parse(url.href, options), credentials: { user, password: Redacted.make(password) } }
})

const isName = (text: string | undefined): text is string =>
  text !== undefined && text !== "" && Buffer.byteLength(text) <= longestName && !/\p{Cc}/u.test(text)

/** Percent-decoded. Undefined for malformed escapes. */
const unescaped = (text: string) => Result.getOrUndefined(Result.try(() => decodeURIComponent(text)))

/** Refuses a URL with a forbidden or unknown host. Deliveries check again. */
export const reachable = (url: string, field = "webhookUrl") =>
  Egress.use((egress) => egress.check(url)).pipe(
    Effect.mapError(({ message, reason }) => new Invalid({ message: `${field}: ${message}. ${advice[reason]}` }))
  )

const advice: Record<Unreachable["reason"], string> = {
  Forbidden: "Expected a host with public addresses alone; the operator can allow others (WEBHOOK_ALLOW)",
  NoAddress: "Expected a host that has addresses in DNS; publish them first",
  NoDns: "Try again in a minute, or check the name servers of the host"
}
