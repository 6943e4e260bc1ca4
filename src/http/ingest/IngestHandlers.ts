import { Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Domains } from "../../domains/Domains.ts"
import { Ingest } from "../../ingest/Ingest.ts"
import type { MailRefused } from "../../ingest/MailRefused.ts"
import { Invalid } from "../../model/ApiError.ts"
import { CurrentWorkspace } from "../requests/CurrentWorkspace.ts"
import * as GroupApi from "../requests/GroupApi.ts"
import * as LimitedKeys from "../requests/LimitedKeys.ts"
import { IngestApi } from "./IngestApi.ts"

/** 4xx becomes a status after which a relay retries, 5xx one after which it does not. */
const statusOf = ({ code, enhanced }: MailRefused): number => {
  if (code >= 500) return code === 552 ? 413 : 422
  // 4.2.2 is a full mailbox: a daily limit.
  return enhanced === "4.2.2" ? 429 : 503
}

const wrongType = new Invalid({ message: "Content-Type: Expected message/rfc822, with the raw message as the body" })

const cutOff = new Invalid({ message: "The body: Expected a whole message, but it broke off. Send it again" })

const refusal = (refused: MailRefused) => {
  const { code, enhanced, recipients, retryAfter, text } = refused
  return HttpServerResponse.jsonUnsafe(
    { error: `${code} ${enhanced} ${text}`, smtp: { code, enhanced, text }, recipients },
    {
      status: statusOf(refused),
      headers: retryAfter === null ? {} : { "retry-after": `${retryAfter}` }
    }
  )
}

export const layer = HttpApiBuilder.group(
  GroupApi.of(IngestApi),
  "ingest",
  Effect.fn(function* (handlers) {
    const domains = yield* Domains
    const ingest = yield* Ingest

    return handlers.handleRaw(
      "ingest",
      Effect.fnUntraced(
        function* ({ headers, params, query, request }) {
          const holder = yield* CurrentWorkspace
          const domain = yield* LimitedKeys.domainOf(domains, holder, params.id)
          if (!/^\s*message\/rfc822\s*(;|$)/i.test(request.headers["content-type"] ?? "")) return yield* wrongType
          const announced = request.headers["content-length"]
          const id = yield* ingest.receive({
            workspaceId: holder.id,
            domain,
            from: query.from,
            recipients: [query.recipient].flat(),
            client: { address: query.client ?? "", helo: query.helo ?? "" },
            idempotencyKey: headers["idempotency-key"],
            announced: announced === undefined ? undefined : Number(announced),
            body: Stream.mapError(request.stream, () => cutOff).pipe(
              Stream.concat(Stream.fromEffectDrain(holder.stillValid))
            )
          })
          return HttpServerResponse.jsonUnsafe({ inbound_email_id: id }, { status: 202 })
        },
        (handled) => Effect.catchTag(handled, "MailRefused", (refused) => Effect.succeed(refusal(refused)))
      )
    )
  })
)
