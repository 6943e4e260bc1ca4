import * as Two from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { Client as One } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport as OneTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { Effect, Schema } from "effect"
import * as Program from "../Program.ts"

/** The result of a tool call. */
export interface Told {
  readonly isError: boolean
  readonly text: string
  /** The text as JSON, or undefined for a sentence. */
  // biome-ignore lint/suspicious/noExplicitAny: asserted field by field
  readonly json: any
}

const Result = Schema.Struct({
  isError: Schema.optionalKey(Schema.Boolean),
  content: Schema.Tuple([Schema.Struct({ type: Schema.Literal("text"), text: Schema.String })])
})

const toTold = (result: unknown): Told => {
  const { content, isError = false } = Schema.decodeUnknownSync(Result)(result)
  const json = Schema.decodeOption(Schema.fromJsonString(Schema.Unknown))(content[0].text)
  return { isError, text: content[0].text, json: json._tag === "Some" ? json.value : undefined }
}

export type Arguments = Readonly<Record<string, unknown>>

type Client = Pick<Two.Client, "close" | "listTools" | "getInstructions" | "getServerVersion">

/** A client of one of the official packages with Effect methods. */
const clientOf = (
  client: Client,
  callTool: (params: { name: string; arguments: Record<string, unknown> }) => Promise<unknown>,
  readResource: (params: { uri: string }) => Promise<{ contents: ReadonlyArray<unknown> }>,
  getPrompt: (params: {
    name: string
    arguments: Record<string, string>
  }) => Promise<{ messages: ReadonlyArray<unknown> }>
) => ({
  instructions: client.getInstructions() ?? "",
  tools: Effect.promise(() => client.listTools()),
  call: (name: string, args: Arguments = {}) =>
    Effect.map(
      Effect.promise(() => callTool({ name, arguments: { ...args } })),
      toTold
    ),
  read: (uri: string) => Effect.promise(() => readResource({ uri })),
  prompt: (name: string, args: Record<string, string>) => Effect.promise(() => getPrompt({ name, arguments: args }))
})

const info = { name: "test", version: "1" }

const headersOf = (key: string) => ({ requestInit: { headers: { authorization: `Bearer ${key}` } } })

/** A client of `@modelcontextprotocol/sdk`, closed with the scope. */
export const one = Effect.fnUntraced(function* (url: string, key: string) {
  const client = new One(info)
  const transport = new OneTransport(new URL(`${url}/mcp`), headersOf(key))
  yield* Effect.acquireRelease(
    // Its type of sessionId conflicts with exactOptionalPropertyTypes.
    Effect.promise(() => client.connect(transport as Parameters<One["connect"]>[0])),
    () => Effect.promise(() => client.close())
  )
  return {
    ...clientOf(
      client as unknown as Client, // The two packages have the same methods under different types.
      (params) => client.callTool(params),
      (params) => client.readResource(params),
      (params) => client.getPrompt(params)
    ),
    end: Effect.promise(() => transport.terminateSession()),
    session: transport.sessionId
  }
})

/** A client of `@modelcontextprotocol/client/stdio`, which starts `inlet mcp`, closed with the scope. */
export const program = Effect.fnUntraced(function* (
  env: Record<string, string>,
  era: "legacy" | { pin: string },
  args: ReadonlyArray<string> = []
) {
  const client = new Two.Client(info, { versionNegotiation: { mode: era } })
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [yield* Program.script, "mcp", ...args],
    env,
    stderr: "inherit"
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => client.connect(transport)),
    () => Effect.promise(() => client.close())
  )
  return clientOf(
    client,
    (params) => client.callTool(params),
    (params) => client.readResource(params),
    (params) => client.getPrompt(params)
  )
})

/** A client of `@modelcontextprotocol/client`, which supports the protocol 2026-07-28 and earlier ones. */
export const two = Effect.fnUntraced(function* (url: string, key: string, era: "legacy" | { pin: string }) {
  const client = new Two.Client(info, { versionNegotiation: { mode: era } })
  const transport = new Two.StreamableHTTPClientTransport(new URL(`${url}/mcp`), headersOf(key))
  yield* Effect.acquireRelease(
    Effect.promise(() => client.connect(transport)),
    () => Effect.promise(() => client.close())
  )
  return clientOf(
    client,
    (params) => client.callTool(params),
    (params) => client.readResource(params),
    (params) => client.getPrompt(params)
  )
})
