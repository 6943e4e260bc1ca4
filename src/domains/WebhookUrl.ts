import { Effect } from "effect"
import { Invalid } from "../model/ApiError.ts"

const longest = 2_048

/** A URL that webhooks can be sent to, in its normal form; https alone in production. */
export const parse = Effect.fnUntraced(function* (text: string, options: { readonly production: boolean }) {
  const invalid = (expected: string) => new Invalid({ message: `webhookUrl: Expected ${expected}` })
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
