import { Effect } from "effect"
import { Egress, type Unreachable } from "../delivery/Egress.ts"
import { Invalid } from "../model/ApiError.ts"

const longest = 2_048

/** A webhook URL in normal form, in production https only. `field` names it in errors. */
export const parse = Effect.fnUntraced(function* (
  text: string,
  options: { readonly production: boolean; readonly field?: string }
) {
  const { field = "webhookUrl" } = options
  const invalid = (expected: string) => new Invalid({ message: `${field}: Expected ${expected}` })
  const url = URL.parse(text)
  if (text.length > longest) return yield* invalid(`a URL of at most ${longest} characters`)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return yield* invalid("an absolute http or https URL such as https://example.com/inbound")
  }
  if (url.username !== "" || url.password !== "") return yield* invalid("a URL without user name and password")
  if (text.includes("#")) return yield* invalid("a URL without a fragment (#)")
  if (options.production && url.protocol !== "https:") return yield* invalid("an https URL; http is for development")
  return url.href
})

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
