import { Duration, Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { InboundEmailId } from "../model/InboundEmail.ts"
import { MailScanner, ScanFailed } from "../providers/scanner/MailScanner.ts"
import * as Settings from "../Settings.ts"

/** A mail with nothing bad in it. */
const sample = (address: string) =>
  Buffer.from(
    `From: <${address}>\r\nTo: <${address}>\r\nSubject: A check of the mail scanner\r\n\r\nThis mail is scanned and not delivered.\r\n`
  )

/**
 * Makes an effect that has the scanner scan a harmless mail, or undefined without a scanner. It waits as long as a
 * message would, or up to `most`.
 */
export const make = Effect.fnUntraced(function* (most?: Duration.Duration) {
  const scanner = yield* MailScanner
  if (!scanner.isActive) return undefined
  const { timeout } = yield* Settings.scanning
  const { domain } = yield* Settings.platform
  const random = yield* SecureRandom.SecureRandom
  const address = `doctor@${domain}`
  const envelope = { from: address, helo: domain, remoteAddress: "127.0.0.1" }
  const limit = most === undefined ? timeout : Duration.min(timeout, most)
  const words = Duration.equals(limit, timeout) ? "MAIL_SCANNER_TIMEOUT" : Duration.format(limit)

  return Effect.gen(function* () {
    const id = InboundEmailId.make(yield* random.uuidV7())
    return yield* scanner.scan({ id, envelope, recipients: [address], message: sample(address) })
  }).pipe(
    Effect.timeoutOrElse({
      duration: limit,
      orElse: () => Effect.fail(new ScanFailed({ kind: "timeout", message: `no answer within ${words}` }))
    })
  )
})
