import { createServer } from "node:http"
import { NodeHttpServer } from "@effect/platform-node"
import { Config, Console, DateTime, Duration, Effect, Layer, Result } from "effect"
import { Command, Flag } from "effect/cli"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { type InboundEvent, verify } from "../webhook.ts"

/** What a person wants to see of a mail, one fact a line. */
const render = (event: InboundEvent, attempt: string) =>
  [
    `✓ ${event.event_id}  verified${attempt}`,
    `  to       ${event.recipient}`,
    `  from     ${event.from}`,
    `  subject  ${event.subject}`,
    ...event.attachments.map(
      ({ contentType, filename, size }) => `  file     ${filename ?? "(no name)"}, ${contentType}, ${size} bytes`
    ),
    ...event.text
      .split("\n")
      .slice(0, 20)
      .map((line) => `  │ ${line}`),
    ""
  ].join("\n")

export const command = Command.make(
  "listen",
  {
    port: Flag.Int("port").pipe(Flag.withDescription("Port of the webhook on this machine"), Flag.withDefault(4000)),
    secret: Flag.Redacted("secret").pipe(
      Flag.withDescription("webhook_signing_secret of the workspace; INLET_WEBHOOK_SECRET when absent"),
      Flag.withFallbackConfig(Config.Redacted("INLET_WEBHOOK_SECRET"))
    ),
    status: Flag.Int("status").pipe(Flag.withDescription("Answer to events that verify"), Flag.withDefault(200)),
    delay: Flag.String("delay").pipe(
      Flag.withDescription('Wait before the answer, such as "3 seconds"'),
      Flag.withDefault("0 seconds")
    ),
    json: Flag.Boolean("json").pipe(
      Flag.withDescription("Print each event as one line of JSON"),
      Flag.withDefault(false)
    )
  },
  Effect.fn(function* ({ delay, json, port, secret, status }) {
    const seen = new Map<string, number>()
    const wait = Duration.fromInputUnsafe(delay as Duration.Input)

    const receive = Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const rawBody = new Uint8Array(yield* request.arrayBuffer)
      const verified = yield* Effect.result(verify({ headers: request.headers, rawBody, secret }))
      const time = DateTime.formatIso(yield* DateTime.now)
      if (Result.isFailure(verified)) {
        yield* Console.error(`✗ ${time}  refused: ${verified.failure.message}`)
        return HttpServerResponse.jsonUnsafe({ error: verified.failure.message }, { status: 401 })
      }
      const event = verified.success
      const times = (seen.get(event.event_id) ?? 0) + 1
      seen.set(event.event_id, times)
      const again = times > 1 ? `, request ${times}: the same event again` : ""
      yield* Console.log(json ? JSON.stringify(event) : render(event, again))
      yield* Effect.sleep(wait)
      return HttpServerResponse.jsonUnsafe({ ok: status >= 200 && status < 300 }, { status })
    })

    yield* Console.error(`Listening for webhooks on http://127.0.0.1:${port}`)
    return yield* Layer.launch(
      HttpRouter.serve(HttpRouter.add("POST", "*", receive), { disableLogger: true, disableListenLog: true }).pipe(
        Layer.provide(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port }))
      )
    )
  })
).pipe(Command.withDescription("Receive webhooks: verify, deduplicate and print the events"))
