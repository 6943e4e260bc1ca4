import { createServer } from "node:http"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Console, DateTime, Duration, Effect, Layer, Option, type Redacted, Result } from "effect"
import { Command, Flag } from "effect/cli"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { type InboundEvent, type OperationalEvent, verify, type WebhookEvent } from "../../effect.ts"
import { mostAtOnce } from "../../http/deliveries/DeliveriesApi.ts"
import * as Launcher from "../../process/Launcher.ts"
import * as ListenError from "../../process/ListenError.ts"
import * as Answer from "../terminal/Answer.ts"
import { CommandFailed } from "../terminal/CommandFailed.ts"
import * as EventFlags from "../terminal/EventFlags.ts"
import * as Service from "../terminal/Service.ts"
import * as SpanText from "../terminal/SpanText.ts"
import * as WebhookNamed from "../terminal/WebhookNamed.ts"
import * as AppRequest from "./AppRequest.ts"
import * as ForwardCopies from "./ForwardCopies.ts"
import * as ForwardTaken from "./ForwardTaken.ts"
import * as WebhookSecret from "./WebhookSecret.ts"

/** A mail, one field a line. */
const mailLines = (event: InboundEvent) => [
  `  to       ${event.recipient}`,
  `  from     ${event.from}`,
  `  subject  ${event.subject}`,
  ...event.attachments.map(
    ({ contentType, filename, size }) => `  file     ${filename ?? "(no name)"}, ${contentType}, ${size} bytes`
  ),
  ...event.text
    .trimEnd()
    .split("\n")
    .slice(0, 20)
    .map((line) => `  │ ${line}`)
]

const operationalLines = ({ message, type }: OperationalEvent) => [`  type     ${type}`, `  message  ${message}`]

/** An event in text form. */
const render = (event: WebhookEvent) =>
  [`✓ ${event.event_id}  verified`, ...(event.event === "operational" ? operationalLines(event) : mailLines(event)), ""]
    .map(Answer.visible)
    .join("\n")

interface Receiving {
  readonly port: number
  readonly secret: Redacted.Redacted
  readonly status: number
  readonly delay: Duration.Duration
  readonly json: boolean
}

/** A local webhook that verifies, deduplicates and prints its requests. */
const receive = Effect.fnUntraced(
  function* ({ delay, json, port, secret, status }: Receiving) {
    const seen = new Map<string, number>()

    const hear = Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const rawBody = new Uint8Array(yield* request.arrayBuffer)
      const verified = yield* Effect.result(verify<WebhookEvent>({ headers: request.headers, rawBody, secret }))
      if (Result.isFailure(verified)) {
        const time = DateTime.formatIso(yield* DateTime.now)
        yield* Console.error(`✗ ${time}  refused: ${verified.failure.message}`)
        return HttpServerResponse.jsonUnsafe({ error: verified.failure.message }, { status: 401 })
      }
      const event = verified.success
      const times = (seen.get(event.event_id) ?? 0) + 1
      seen.set(event.event_id, times)
      if (times === 1) yield* Console.log(json ? JSON.stringify(event) : render(event))
      else {
        const again = `✓ ${event.event_id}  verified, request ${times}: the same event again`
        // Standard output has each event once.
        yield* json ? Console.error(again) : Console.log(again)
      }
      yield* Effect.sleep(delay)
      return HttpServerResponse.jsonUnsafe({ ok: status < 300 }, { status })
    })

    const server = HttpRouter.serve(HttpRouter.add("POST", "*", hear), {
      disableLogger: true,
      disableListenLog: true
    }).pipe(Layer.provide(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port })))
    const ready = Layer.effectDiscard(Console.error(`Listening for webhooks on http://127.0.0.1:${port}`))
    return yield* Layer.launch(Layer.provide(ready, server))
  },
  Effect.catchTag("ServeError", ({ cause }) =>
    Effect.fail(new CommandFailed({ message: ListenError.explain({ host: "--port", port: "--port" }, cause) }))
  )
)

/** Flags of the other mode that were given. */
const misplaced = (flags: Readonly<Record<string, boolean>>) =>
  Object.entries(flags).flatMap(([flag, isGiven]) => (isGiven ? [flag] : []))

export const command = Command.make(
  "listen",
  {
    port: Flag.Int("port").pipe(
      Flag.withDescription("Port of the webhook on this machine, default 4000"),
      Flag.filter(
        (port) => port > 0 && port < 65_536,
        () => "a port number from 1 to 65535"
      ),
      Flag.optional
    ),
    secret: Flag.Redacted("secret").pipe(
      Flag.withDescription(
        "Signing secret of the workspace. Other users can see it in the process list, so prefer INLET_WEBHOOK_SECRET, --secret-file or a profile"
      ),
      Flag.optional
    ),
    secretFile: Flag.String("secret-file").pipe(
      Flag.withDescription("File that contains only the signing secret"),
      Flag.optional
    ),
    status: Flag.Int("status").pipe(
      Flag.withDescription("Status to answer verified events with, default 200"),
      Flag.filter(
        (status) => status >= 200 && status < 600,
        () => "an HTTP status from 200 to 599"
      ),
      Flag.optional
    ),
    delay: Flag.String("delay").pipe(
      Flag.withDescription("Delay before the answer, such as 500ms or 3s"),
      Flag.filterMap(SpanText.parse, () => "a time such as 500ms or 3s"),
      Flag.optional
    ),
    forwardTo: Flag.String("forward-to").pipe(
      Flag.withDescription(
        "Post each event to this URL as a signed webhook request, for an app without a public address"
      ),
      Flag.optional
    ),
    domain: EventFlags.domain,
    webhook: WebhookNamed.flag.pipe(
      Flag.withDescription("With --forward-to: only mail of this webhook, by its pattern or id")
    ),
    cursorFile: Flag.String("cursor-file").pipe(
      Flag.withDescription(
        "With --forward-to: file for the position. Default a file per domain in the user's state folder"
      ),
      Flag.optional
    ),
    fromStart: Flag.Boolean("from-start").pipe(
      Flag.withDescription("With --forward-to: begin with the oldest stored event"),
      Flag.withDefault(false)
    ),
    after: Flag.String("after").pipe(
      Flag.withDescription(
        "With --forward-to: begin after this position: an event_id, a mark of `inlet wait --mark`, or latest"
      ),
      Flag.optional
    ),
    take: Flag.Boolean("take").pipe(
      Flag.withDescription("With --forward-to: lease the deliveries of a domain without a webhook, in place of copies"),
      Flag.withDefault(false)
    ),
    atOnce: Flag.Int("at-once").pipe(
      Flag.withDescription("With --take: maximum concurrent deliveries, 1 to 16, default 16"),
      Flag.filter(
        (most) => most >= 1 && most <= mostAtOnce,
        () => `a number from 1 to ${mostAtOnce}`
      ),
      Flag.optional
    ),
    json: Flag.Boolean("json").pipe(
      Flag.withDescription("Print each event, or with --forward-to each request, as a line of JSON"),
      Flag.withDefault(false)
    ),
    place: Service.place
  },
  Effect.fn(
    function* ({ json, place, ...flags }) {
      const { after, atOnce, cursorFile, delay, domain, forwardTo, fromStart } = flags
      const { port, secret, secretFile, status, take, webhook } = flags
      if (Option.isSome(forwardTo)) {
        const [other] = misplaced({
          "--port": Option.isSome(port),
          "--secret": Option.isSome(secret),
          "--secret-file": Option.isSome(secretFile),
          "--status": Option.isSome(status),
          "--delay": Option.isSome(delay)
        })
        if (other !== undefined) {
          return yield* new CommandFailed({ message: `${other}: Expected no --forward-to beside it` })
        }
        const [ofCopies] = misplaced({
          "--cursor-file": Option.isSome(cursorFile),
          "--from-start": fromStart,
          "--after": Option.isSome(after)
        })
        if (take && ofCopies !== undefined) {
          return yield* new CommandFailed({
            message: `${ofCopies}: Expected no --take beside it. The service tracks the deliveries`
          })
        }
        if (!take && Option.isSome(atOnce)) {
          return yield* new CommandFailed({ message: "--at-once: Expected --take beside it. Copies go one at a time" })
        }
        if (fromStart && Option.isSome(after)) {
          return yield* new CommandFailed({ message: "--after: Expected no --from-start beside it" })
        }
        const url = yield* AppRequest.checkUrl(forwardTo.value)
        return yield* Service.ask(
          place,
          Effect.fnUntraced(function* (api) {
            const of = yield* Service.domainOrOnly(api, Option.getOrUndefined(domain))
            const only = Option.isSome(webhook) ? yield* WebhookNamed.find(api, of, webhook.value) : undefined
            return yield* take
              ? ForwardTaken.run(api, of.id, {
                  url,
                  json,
                  webhook: only,
                  atOnce: Option.getOrElse(atOnce, () => mostAtOnce)
                })
              : ForwardCopies.run(api, of.id, { url, json, webhookId: only?.id, cursorFile, fromStart, after })
          })
        )
      }
      const [other] = misplaced({
        "--domain": Option.isSome(domain),
        "--webhook": Option.isSome(webhook),
        "--cursor-file": Option.isSome(cursorFile),
        "--from-start": fromStart,
        "--after": Option.isSome(after),
        "--take": take,
        "--at-once": Option.isSome(atOnce)
      })
      if (other !== undefined) {
        return yield* new CommandFailed({ message: `${other}: Expected --forward-to URL beside it` })
      }
      return yield* receive({
        port: Option.getOrElse(port, () => 4000),
        secret: yield* WebhookSecret.find({ secret, secretFile, profile: place.profile }),
        status: Option.getOrElse(status, () => 200),
        delay: Option.getOrElse(delay, () => Duration.zero),
        json
      })
    },
    // The listener exits with the `npm run` that started it.
    Effect.raceFirst(Effect.orDie(Launcher.ended))
  )
).pipe(
  Command.withDescription("Receive webhooks: verify, deduplicate and print the events, or forward them to an app"),
  Command.provide(NodeHttpClient.layerUndici)
)
