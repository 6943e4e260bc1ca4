import { Duration, Effect, Exit, Fiber } from "effect"
import { type Signable, SigningFailed, WebhookSigner } from "../providers/signing/WebhookSigner.ts"
import * as Settings from "../Settings.ts"

/** Makes the signer of the service with `WEBHOOK_TIMEOUT`, after which it fails. */
export const make = Effect.gen(function* () {
  const signer = yield* WebhookSigner
  const context = yield* Effect.context()
  const { timeout } = yield* Settings.webhooks
  const late = new SigningFailed({ message: `no signature within ${Duration.toSeconds(timeout)} s` })

  // No timeout for a signer that completes synchronously, because a timeout costs more than the signature.
  const sign: WebhookSigner["Service"]["sign"] = (request: Signable) =>
    Effect.suspend(() => {
      const signing = signer.sign(request)
      if (Exit.isExit(signing)) return signing
      const fiber = Effect.runForkWith(context)(signing)
      const exit = fiber.pollUnsafe()
      if (exit !== undefined) return exit
      return Fiber.join(fiber).pipe(
        Effect.timeoutOrElse({ duration: timeout, orElse: () => Effect.fail(late) }),
        Effect.ensuring(Fiber.interrupt(fiber))
      )
    })
  return sign
})
