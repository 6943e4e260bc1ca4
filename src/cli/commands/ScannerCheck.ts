import { type Config, Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { InboundEmailId } from "../../model/InboundEmail.ts"
import * as Providers from "../../providers/Providers.ts"
import { MailScanner } from "../../providers/scanner/MailScanner.ts"
import * as Settings from "../../Settings.ts"
import type { Finding } from "./Checks.ts"

/** A mail with nothing bad in it. */
const sample = (address: string) =>
  Buffer.from(
    `From: <${address}>\r\nTo: <${address}>\r\nSubject: A check of the mail scanner\r\n\r\nThis mail is scanned and not delivered.\r\n`
  )

/** Has the scanner scan a mail of its own. There is no check without a scanner. */
export const scanner: Effect.Effect<ReadonlyArray<Finding>, Config.ConfigError, SecureRandom.SecureRandom> = Effect.gen(
  function* () {
    const { name, url } = yield* Settings.scanner
    if (name === "none") return []
    const { timeout } = yield* Settings.scanning
    const { domain } = yield* Settings.platform
    const random = yield* SecureRandom.SecureRandom
    const id = InboundEmailId.make(yield* random.uuidV7())
    const address = `doctor@${domain}`
    const envelope = { from: address, helo: domain, remoteAddress: "127.0.0.1" }
    const place = `${name} at ${new URL(url).host}`
    const wrong = (reason: string): ReadonlyArray<Finding> => [
      {
        about: "scanner",
        verdict: "wrong",
        says: `${place} does not scan: ${reason}. Mail goes on with the verdict unknown. Start the scanner, or correct RSPAMD_URL and RSPAMD_PASSWORD`
      }
    ]
    return yield* MailScanner.use((scanner) =>
      scanner.scan({ id, envelope, recipients: [address], message: sample(address) })
    ).pipe(
      Effect.timeout(timeout),
      Effect.map(
        ({ score, verdict }): ReadonlyArray<Finding> => [
          {
            about: "scanner",
            verdict: "good",
            says: `${place} finds a harmless mail ${verdict}, with a score of ${score}`
          }
        ]
      ),
      Effect.catchTags({
        ScanFailed: ({ message }) => Effect.succeed(wrong(message)),
        TimeoutError: () => Effect.succeed(wrong("no answer within MAIL_SCANNER_TIMEOUT"))
      }),
      Effect.provide(Providers.scanner)
    )
  }
)
