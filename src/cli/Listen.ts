import { createServer } from "node:http"
import { NodeHttpServer } from "@effect/platform-node"
import { Config, Console, DateTime, Duration, Effect, Layer, Redacted, Result } from "effect"
import { Command, Flag } from "effect/cli"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { type InboundEvent, verify } from "../effect.ts"
import * as ListenError from "../ListenError.ts"
import * as Answer from "./Answer.ts"
import { CommandFailed } from "./CommandFailed.ts"
import * as SpanText from "./SpanText.ts"

/** A mail for a person, one fact a line. */
const render = (event: InboundEvent) =>
  [
    `✓ ${event.event_id}  verified`,
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
      .map((line) => `  │ ${line}`),
    ""
  ]
    .map(Answer.visible)
    .join("\n")

export const command = Command.make(
  "listen",
  {
    port: Flag.Int("port").pipe(
      Flag.withDescription("Port of the webhook on this machine; 4000 when absent"),
      Flag.filter(
        (port) => port > 0 && port < 65_536,
        () => "a port number from 1 to 65535"
      ),
      Flag.withDefault(4000)
    ),
    secret: Flag.Redacted("secret").pipe(
      Flag.withDescription("webhook_signing_secret of the workspace; INLET_WEBHOOK_SECRET when absent"),
      Flag.withFallbackConfig(Config.Redacted("INLET_WEBHOOK_SECRET"))
    ),
    status: Flag.Int("status").pipe(
      Flag.withDescription("Answer to events that verify; 200 when absent"),
      Flag.filter(
        (status) => status >= 200 && status < 600,
        () => "an HTTP status from 200 to 599"
      ),
      Flag.withDefault(200)
    ),
    delay: Flag.String("delay").pipe(
      Flag.withDescription("Wait before the answer, such as 500ms or 3s"),
      Flag.filterMap(SpanText.parse, () => "a time such as 500ms or 3s"),
      Flag.withDefault(Duration.zero)
    ),
    json: Flag.Boolean("json").pipe(
      Flag.withDescription("Print each event once, as a line of JSON"),
      Flag.withDefault(false)
    )
  },
  Effect.fn(
    function* ({ delay, json, port, secret, status }) {
      if (!Redacted.value(secret).startsWith("whsec_")) {
        return yield* new CommandFailed({
          message:
            "--secret: Expected the webhook_signing_secret of the workspace, which begins with whsec_ (also INLET_WEBHOOK_SECRET)"
        })
      }
      const seen = new Map<string, number>()

      const receive = Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        const rawBody = new Uint8Array(yield* request.arrayBuffer)
        const verified = yield* Effect.result(verify({ headers: request.headers, rawBody, secret }))
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

      const server = HttpRouter.serve(HttpRouter.add("POST", "*", receive), {
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
).pipe(Command.withDescription("Receive webhooks: verify, deduplicate and print the events"))
