import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { ChallengeAnswers } from "../../certificates/ChallengeAnswers.ts"
import * as Settings from "../../Settings.ts"

const unknown = HttpServerResponse.jsonUnsafe({ error: "No certificate order waits for this token" }, { status: 404 })

/** Answers the certificate authority about an order under way (RFC 8555, section 8.3). Only with `ACME_CHALLENGE=http`. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const settings = yield* Settings.certificates
    const answers = yield* ChallengeAnswers
    if (settings?.challenge !== "http") return Layer.empty
    const handler = Effect.gen(function* () {
      const { token = "" } = yield* HttpRouter.params
      const answer = yield* answers.find(token)
      return answer === undefined
        ? unknown
        : HttpServerResponse.text(answer, {
            contentType: "application/octet-stream",
            headers: { "cache-control": "no-store", "x-content-type-options": "nosniff" }
          })
    })
    return HttpRouter.add("GET", "/.well-known/acme-challenge/:token", handler)
  })
)
