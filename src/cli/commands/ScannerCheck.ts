import { type Config, Effect } from "effect"
import type { SecureRandom } from "effect/crypto"
import * as ScannerTrial from "../../health/ScannerTrial.ts"
import * as Providers from "../../providers/Providers.ts"
import * as Settings from "../../Settings.ts"
import type { Finding } from "./Checks.ts"

/** Has the scanner scan a mail of its own. There is no check without a scanner. */
export const scanner: Effect.Effect<ReadonlyArray<Finding>, Config.ConfigError, SecureRandom.SecureRandom> = Effect.gen(
  function* () {
    const { name, url } = yield* Settings.scanner
    const scan = yield* ScannerTrial.make()
    if (scan === undefined) return []
    const place = `${name} at ${new URL(url).host}`
    return yield* scan.pipe(
      Effect.map(
        ({ score, verdict }): ReadonlyArray<Finding> => [
          {
            about: "scanner",
            verdict: "good",
            says: `${place} finds a harmless mail ${verdict}, with a score of ${score}`
          }
        ]
      ),
      Effect.catchTag("ScanFailed", ({ message }) =>
        Effect.succeed<ReadonlyArray<Finding>>([
          {
            about: "scanner",
            verdict: "wrong",
            says: `${place} does not scan: ${message}. Mail goes on with the verdict unknown. Start the scanner, or correct RSPAMD_URL and RSPAMD_PASSWORD`
          }
        ])
      )
    )
  }
).pipe(Effect.provide(Providers.scanner))
