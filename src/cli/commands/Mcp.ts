import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Console, Effect, Exit, FiberMap, Option, Schema, Stdio, Stream } from "effect"
import { Command } from "effect/cli"
import { HttpClient, HttpClientRequest } from "effect/http"
import * as ErrorOrigin from "../../ErrorOrigin.ts"
import * as ClientSession from "../../mcp/ClientSession.ts"
import * as Service from "../terminal/Service.ts"

const Id = Schema.Union([Schema.String, Schema.Finite])

const versionKey = "io.modelcontextprotocol/protocolVersion"

/** The part of a message that decides how it is forwarded. */
const Message = Schema.fromJsonString(
  Schema.Struct({
    id: Schema.optionalKey(Id),
    method: Schema.optionalKey(Schema.String),
    params: Schema.optionalKey(
      Schema.Struct({
        name: Schema.optionalKey(Schema.String),
        uri: Schema.optionalKey(Schema.String),
        requestId: Schema.optionalKey(Id),
        _meta: Schema.optionalKey(Schema.Struct({ [versionKey]: Schema.optionalKey(Schema.String) }))
      })
    )
  })
)
type Message = typeof Message.Type

/** What a client can take. A proxy answers with other text, such as a page, while the service restarts. */
const decodeAnswer = Schema.decodeOption(Schema.fromJsonString(Schema.Struct({ jsonrpc: Schema.Literal("2.0") })))

const Failure = Schema.fromJsonString(Schema.Struct({ error: Schema.String }))

/** Encodes a value in base64 if a header cannot contain it. */
const headerText = (text: string) =>
  /^[\x20-\x7e]*$/.test(text) && !text.startsWith("=?") ? text : `=?base64?${Buffer.from(text).toString("base64")}?=`

/** The headers of a message in a protocol without sessions, which repeat values of the message. */
const routed = ({ method = "", params = {} }: Message, version: string) => {
  const name = params.name ?? params.uri
  return {
    "mcp-protocol-version": version,
    "mcp-method": method,
    ...(name === undefined ? {} : { "mcp-name": headerText(name) })
  }
}

/** The messages in an answer, each on a line. */
const linesOf = (contentType: string, text: string): ReadonlyArray<string> =>
  contentType.startsWith("text/event-stream")
    ? text.split(/\r?\n/).flatMap((line) => (line.startsWith("data: ") ? [line.slice("data: ".length)] : []))
    : [text.trim()].filter((line) => line !== "")

const refusal = (id: typeof Id.Type | null, code: number, message: string) =>
  JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } })

/** Forwards the messages on standard input to `/mcp` and the answers to standard output, until the input ends. */
const forward = Effect.fnUntraced(function* ({ baseUrl, key }: Effect.Success<ReturnType<typeof Service.opened>>) {
  const client = yield* HttpClient.HttpClient
  const stdio = yield* Stdio.Stdio
  const underWay = yield* FiberMap.make<typeof Id.Type, void, never>()
  const endpoint = `${baseUrl.replace(/\/$/, "")}/mcp`
  // For protocols without sessions, so that this process gets no code twice.
  const own = { [ClientSession.header]: crypto.randomUUID() }
  let session: Readonly<Record<string, string>> = {}

  const ask = (request: HttpClientRequest.HttpClientRequest) =>
    client.execute(
      request.pipe(HttpClientRequest.bearerToken(key), HttpClientRequest.setHeaders({ ...own, ...session }))
    )

  const answersTo = Effect.fnUntraced(function* (line: string, message: Message) {
    const version = message.params?._meta?.[versionKey]
    const response = yield* ask(
      HttpClientRequest.post(endpoint).pipe(
        HttpClientRequest.setHeaders({
          accept: "application/json, text/event-stream",
          ...(version === undefined ? {} : routed(message, version))
        }),
        HttpClientRequest.bodyText(line, "application/json")
      )
    )
    const {
      "content-type": contentType = "",
      "mcp-session-id": id,
      "mcp-protocol-version": protocol
    } = response.headers
    if (id !== undefined && protocol !== undefined) session = { "mcp-session-id": id, "mcp-protocol-version": protocol }
    const text = yield* response.text
    const failure = Schema.decodeOption(Failure)(text)
    const answers = linesOf(contentType, text).filter((line) => Option.isSome(decodeAnswer(line)))
    if (answers.length > 0 || message.id === undefined) return answers
    const why = Option.getOrElse(
      Option.map(failure, ({ error }) => error),
      () => `${baseUrl} answered ${response.status} without a message of MCP. Is that Inlet's URL, and does it run?`
    )
    return [refusal(message.id, -32_000, why)]
  })

  const send = (line: string, message: Message) =>
    answersTo(line, message).pipe(
      Effect.catch((error) => {
        const why = `${baseUrl} did not answer (${ErrorOrigin.messageOf(error)}). Is the service running there?`
        return Effect.succeed(message.id === undefined ? [] : [refusal(message.id, -32_000, why)])
      }),
      Effect.flatMap((lines) => Effect.forEach(lines, (line) => Console.log(line), { discard: true }))
    )

  const take = Effect.fnUntraced(function* (line: string) {
    if (line.trim() === "") return
    const decoded = yield* Effect.exit(Schema.decodeEffect(Message)(line))
    if (Exit.isFailure(decoded))
      return yield* Console.log(refusal(null, -32_700, "Expected a message of JSON-RPC on a line"))
    const message = decoded.value
    const { id, method, params = {} } = message
    // Other messages do not wait for a pending one, but all need the session.
    if (id !== undefined && method !== "initialize") return yield* FiberMap.run(underWay, id, send(line, message))
    yield* send(line, message)
    if (method === "notifications/cancelled" && params.requestId !== undefined) {
      yield* FiberMap.remove(underWay, params.requestId)
    }
  })

  yield* stdio.stdin.pipe(Stream.decodeText, Stream.splitLines, Stream.runForEach(take), Effect.orDie)
  yield* FiberMap.awaitEmpty(underWay)
  if ("mcp-session-id" in session) {
    yield* Effect.ignore(Effect.timeout(ask(HttpClientRequest.delete(endpoint)), "2 seconds"))
  }
})

export const command = Command.make(
  "mcp",
  Service.place,
  Effect.fnUntraced(function* (place) {
    yield* Effect.scoped(forward(yield* Service.opened(place)))
  })
).pipe(
  Command.withDescription(
    "Run an MCP server on standard input and output, for clients that start a program. Forwards every message to /mcp"
  ),
  Command.provide(NodeHttpClient.layerUndici)
)
