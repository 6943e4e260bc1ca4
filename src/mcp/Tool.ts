import { Cause, Context, Effect, Option, Result, Schema, type Scope } from "effect"
import { McpSchema, McpServer } from "effect/ai"
import { SqlError } from "effect/sql"
import { isUnreachable } from "../database/Database.ts"
import * as Outage from "../database/Outage.ts"
import { CurrentWorkspace } from "../http/requests/CurrentWorkspace.ts"
import * as LimitedKeys from "../http/requests/LimitedKeys.ts"
import { describe } from "../http/requests/ValidationErrors.ts"

/** The reason for a failed call, with the next step. */
interface Refusal {
  readonly _tag: string
  readonly message: string
}

/** A tool: its description for the model, and its answer for a workspace. */
interface Tool<Fields extends Schema.Struct.Fields> {
  readonly name: string
  readonly description: string
  readonly parameters: Fields
  /** True if calls change anything. False by default. */
  readonly changes?: boolean
  /** True if it shows a key with a limit only its mail. False by default, which refuses such keys. */
  readonly filters?: boolean
  /** Plain data, sent as JSON. */
  readonly answer: (
    given: Schema.Struct.Type<Fields>,
    workspace: CurrentWorkspace["Service"]
  ) => Effect.Effect<unknown, Refusal | SqlError.SqlError, Scope.Scope>
}

/** The authenticated workspace. The library's types do not show that a request's context reaches its handlers. */
export const workspace = Effect.flatMap(Effect.serviceOption(CurrentWorkspace), (found) =>
  Option.isSome(found) ? Effect.succeed(found.value) : Effect.die(new Error("MCP was called without a key"))
)

const said = (text: string, isError = false) =>
  new McpSchema.CallToolResult({ content: [{ type: "text", text }], ...(isError ? { isError } : {}) })

const strict = { onExcessProperty: "error", errors: "all" } as const

/** Models send null for omitted parameters. */
const withoutNulls = (given: unknown) =>
  Object.fromEntries(Object.entries(Object(given)).filter(([, value]) => value !== null))

/** Logs a bug, and answers without details as the API does. */
const bug = (cause: Cause.Cause<unknown>) =>
  Effect.as(
    Effect.logError("A tool failed", cause),
    "internal error: this is a fault of the service, whose operator finds it in the log"
  )

/** The tools for the lists of the API, which its errors name. */
const lists: Readonly<Record<string, string>> = {
  "GET /api/events lists them": "list_mail lists them",
  "GET /api/domains lists them": "get_inboxes lists them"
}

const inTools = (message: string): string =>
  Object.entries(lists).reduce((text, [route, tool]) => text.replace(route, tool), message)

/** Says why a call failed. The boundary of `SqlError` for tools, as `DatabaseErrors` is for the API. */
export const inWords = (error: Refusal | SqlError.SqlError) => {
  if (!SqlError.isSqlError(error)) return Effect.succeed(inTools(error.message))
  if (!isUnreachable(error)) return bug(Cause.fail(error))
  const message = Outage.inWords(error)
  return Effect.as(Effect.logError(message, error), message)
}

/** Adds the tool to the server. */
export const add = Effect.fnUntraced(function* <const Fields extends Schema.Struct.Fields>({
  answer,
  changes = false,
  description,
  filters = false,
  name,
  parameters
}: Tool<Fields>) {
  const server = yield* McpServer.McpServer
  const schema = Schema.Struct(parameters)
  // The library treats a struct without fields as any value except null.
  const inputSchema =
    Object.keys(parameters).length === 0
      ? { type: "object", properties: {}, additionalProperties: false }
      : Schema.toJsonSchemaDocument(schema, strict).schema
  const decode = Schema.decodeUnknownResult(Schema.toType(schema) as Schema.Codec<Schema.Struct.Type<Fields>>, strict)

  yield* server.addTool({
    tool: new McpSchema.Tool({
      name,
      description,
      inputSchema: yield* Effect.orDie(Schema.decodeUnknownEffect(McpSchema.ToolJson)(inputSchema)),
      annotations: { readOnlyHint: !changes, destructiveHint: false }
    }),
    annotations: Context.empty(),
    handle: (given) => {
      const decoded = decode(withoutNulls(given))
      const [extra] = Object.keys(parameters).length === 0 ? Object.keys(withoutNulls(given)) : []
      if (extra !== undefined) return Effect.succeed(said(`${extra}: this tool has no parameters`, true))
      if (Result.isFailure(decoded))
        return Effect.succeed(said(describe(decoded.failure.issue, "", Object.keys(parameters), "this tool"), true))
      return Effect.flatMap(workspace, (caller) =>
        caller.limit === null || filters
          ? answer(decoded.success, caller)
          : Effect.fail(LimitedKeys.refusal(name, caller.limit, !changes))
      ).pipe(
        Effect.scoped,
        Effect.map((data) => said(JSON.stringify(data))),
        Effect.catchCause((cause) => {
          const failure = Cause.findFail(cause)
          if (Result.isFailure(failure) && Cause.hasInterruptsOnly(cause)) return Effect.failCause(failure.failure)
          const message = Result.isSuccess(failure) ? inWords(failure.success.error) : bug(cause)
          return Effect.map(message, (text) => said(text, true))
        })
      )
    }
  })
})
