import { Effect } from "effect"
import { http } from "./ApiSettings.ts"
import { isLoopback } from "./CertificateSettings.ts"

/** Warns of a public URL with http in production, unless its host is this machine. */
export const warn = Effect.gen(function* () {
  const { production, publicUrl } = yield* http
  const { hostname, protocol } = new URL(publicUrl)
  if (!production || protocol === "https:" || isLoopback(hostname)) return
  yield* Effect.logWarning(
    "SERVICE_PUBLIC_URL begins with http:, so API keys and cookies travel unencrypted, and browsers do not keep the cookie of the demo inbox. Put an https proxy in front and set its URL"
  )
})
