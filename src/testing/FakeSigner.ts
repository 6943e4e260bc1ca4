import { Effect, Layer } from "effect"
import { type Signable, SigningFailed, WebhookSigner } from "../providers/signing/WebhookSigner.ts"
import * as Mood from "./Mood.ts"

const calls = ["sign"] as const

export interface FakeSigner extends Mood.Moody<(typeof calls)[number]> {
  /** For `signer` of `TestInlet.layer`. */
  readonly layer: Layer.Layer<WebhookSigner>
  /** The requests to sign, oldest first. */
  readonly requests: ReadonlyArray<Signable>
}

/**
 * A signer with the same headers for every request, none by default. With `refuse` and `fail` the request is not signed, and its
 * attempt fails. `hang` gives no signature.
 */
export const make = (headers: Readonly<Record<string, string>> = {}): FakeSigner => {
  const { under, will } = Mood.make(calls)
  const requests: Array<Signable> = []
  const failed = (message: string) => Effect.fail(new SigningFailed({ message }))
  return {
    layer: Layer.succeed(WebhookSigner, {
      sign: (request) =>
        Effect.suspend(() => {
          requests.push(request)
          return Effect.succeed(headers)
        }).pipe(under("sign", { refuse: failed("the signer refused"), fail: failed("the signer broke") }))
    }),
    will,
    requests
  }
}
