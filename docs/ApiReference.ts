import * as OpenApiDocument from "../src/http/api/OpenApiDocument.ts"
import * as OpenApiKeys from "../src/http/api/OpenApiKeys.ts"
import type { Shape } from "../src/http/api/SchemaWords.ts"
import * as SchemaWords from "../src/http/api/SchemaWords.ts"

const spec = OpenApiDocument.make("https://inlet.example.com")
const schemas: Readonly<Record<string, Shape>> = spec.components.schemas

const named = new Map(
  Object.entries(schemas).filter(([, shape]) => shape.properties !== undefined || shape.anyOf !== undefined)
)

const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\w\s-]/g, "")
    .replaceAll(" ", "-")

/** A type in words, short enough for a table cell. */
const typeOf = (shape: Shape): string =>
  SchemaWords.typeOf(shape, { link: (name) => `[${name}](#${anchorOf(name)})`, code: (text) => `\`${text}\`` })

const table = (header: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>) => {
  const line = (cells: ReadonlyArray<string>) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`
  return [line(header), line(header.map(() => "---")), ...rows.map(line)].join("\n")
}

/** What is said of a field, or of the schema that it names. */
const meaningOf = ({ $ref, description }: Shape): string =>
  description ?? ($ref === undefined ? "" : (schemas[$ref.slice($ref.lastIndexOf("/") + 1)]?.description ?? ""))

const fieldRows = ({ properties = {}, required = [] }: Shape) =>
  Object.entries(properties).map(([key, shape]) => [
    `\`${key}\``,
    typeOf(shape),
    [required.includes(key) ? "" : "optional", meaningOf(shape)].filter((part) => part !== "").join("; ")
  ])

/** An object with all fields, or a base object with its additional fields. */
const fields = (shape: Shape, self = ""): string => {
  const own = Object.keys(shape.properties ?? {})
  const isNeeded = (key: string, { required = [] }: Shape) => required.includes(key)
  const base = [...named].find(([name, other]) => {
    const keys = Object.keys(other.properties ?? {})
    const literals = ({ properties }: Shape, key: string) => JSON.stringify(properties?.[key]?.enum)
    const isWithin = keys.every(
      (key) =>
        own.includes(key) &&
        isNeeded(key, other) === isNeeded(key, shape) &&
        literals(other, key) === literals(shape, key)
    )
    return name !== self && keys.length > 5 && keys.length < own.length && isWithin
  })
  if (base === undefined) return table(["field", "type", "meaning"], fieldRows(shape))
  const [name, { properties = {} }] = base
  const more = Object.fromEntries(Object.entries(shape.properties ?? {}).filter(([key]) => !(key in properties)))
  return `Every field of [${name}](#${anchorOf(name)}), and:\n\n${table(["field", "type", "meaning"], fieldRows({ ...shape, properties: more }))}`
}

const answers = (operation: OpenApiDocument.Operation): ReadonlyArray<string> => {
  const isOpen = operation.security.length === 0
  const statuses = Object.entries(operation.responses)
  const successes = new Map<string, Array<string>>()
  for (const [status, { content = {} }] of statuses.filter(([status]) => Number(status) < 400)) {
    const [[mediaType, body] = []] = Object.entries(content)
    const shape = body?.schema as Shape | undefined
    const text =
      shape === undefined || mediaType === undefined
        ? "without a body"
        : mediaType !== "application/json"
          ? `\`${mediaType}\``
          : shape.$ref === undefined && shape.properties !== undefined
            ? `with\n\n${fields(shape)}`
            : typeOf(shape)
    successes.set(text, [...(successes.get(text) ?? []), `\`${status}\``])
  }
  const keys = OpenApiKeys.wordsOf(operation.security)
  // Every route can return these, so the conventions list them.
  const errors = statuses.map(([status]) => status).filter((status) => Number(status) >= 400 && status !== "500")
  return [
    [...successes].map(([text, codes]) => `Answers ${codes.join(" or ")} ${text}`).join("\n\n"),
    ...(errors.length === 0 ? [] : [`Errors: ${errors.map((status) => `\`${status}\``).join(", ")}.`]),
    ...(isOpen
      ? ["Requires no key."]
      : keys === undefined
        ? []
        : [`Accepts ${/^[aeiou]/.test(keys) ? "an" : "a"} ${keys}.`])
  ]
}

const endpoint = (method: string, path: string, operation: OpenApiDocument.Operation): string => {
  const inputs = operation.parameters.filter((parameter) => parameter.in !== "path")
  const body = Object.values(operation.requestBody?.content ?? {})[0]?.schema as Shape | undefined
  return [
    `### ${method.toUpperCase()} ${path}`,
    `${operation.summary}.${operation.description === undefined ? "" : ` ${operation.description}`}`,
    ...(inputs.length === 0
      ? []
      : [
          table(
            ["parameter", "in", "type", "meaning"],
            inputs.map((parameter) => {
              return [`\`${parameter.name}\``, parameter.in, typeOf(parameter.schema), parameter.description ?? ""]
            })
          )
        ]),
    ...(body === undefined
      ? []
      : [body.properties === undefined ? `Body: ${typeOf(body)}.` : `Body:\n\n${fields(body)}`]),
    ...answers(operation)
  ].join("\n\n")
}

const methods = ["get", "post", "patch", "put", "delete"] as const

const group = ({ description, name }: OpenApiDocument.Document["tags"][number]): string => {
  const endpoints = Object.entries(spec.paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item[method]
      return operation?.tags.includes(name) === true ? [endpoint(method, path, operation)] : []
    })
  )
  return [`## ${name}`, ...(description === undefined ? [] : [`${description}.`]), ...endpoints].join("\n\n")
}

const conventions = `## Conventions

- Bodies are JSON in UTF-8, at most 256 KiB except for simulated and ingested messages. Ids are UUIDs, times are ISO 8601 in UTC with milliseconds.
- Send \`Authorization: Bearer <api_key>\`, unless an endpoint requires no key. The workspace's own key (\`ak_live_…\`) has full access. A read key (\`ak_read_…\`) reads mail, on endpoints that accept it.
- An unknown query parameter answers \`400\`, and so does an unknown field of a body. The message lists the known ones. A misspelled filter therefore never widens a list, a key or a replay.
- Every error is \`{"error": "<message>"}\`. The message is for people and names the field. Programs use the status.

| status | meaning |
| --- | --- |
| \`400\` | the request differs from the documentation |
| \`401\` | the API key is missing or wrong |
| \`403\` | a key that the route does not take: a read key, a key with a limit, or an ingest key on any route but ingest. Also a new workspace with \`WORKSPACE_CREATION=admin\` |
| \`404\` | no object with this id in this workspace |
| \`405\` | unsupported method. \`Allow\` lists the supported ones |
| \`409\` | the current state does not allow it |
| \`413\` | the body is larger than 256 KiB, or a message larger than \`MAX_MESSAGE_BYTES\` |
| \`422\` | the \`Idempotency-Key\` was used for another request, or a relayed mail is refused |
| \`429\` | a rate or concurrency limit. \`Retry-After\` has the seconds to wait |
| \`500\` | a bug. The log has the details under the \`X-Request-Id\` |
| \`502\` | a registrar or payment provider failed or answered incorrectly |
| \`503\` | the database or the raw store is unavailable. \`Retry-After\` has the seconds to wait |

- What is no HTTP/1.1 request gets the same form of error with \`400\`, \`408\` (too slow), \`413\`, \`417\` or \`431\` (a URL and header fields over 16 KiB), and the connection ends.
- Every response has an \`X-Request-Id\`: that of the request if valid (at most 128 plain characters), else a new one.
- Lists are newest first, event lists with \`order=asc\` oldest first. \`next_cursor\` is the \`cursor\` of the next page, and \`null\` at the end.
- To wait for a mail, take \`cursor_now\` from the event list, trigger the mail, then list with \`after=<cursor_now>&wait=60\`. Without \`after\` an older mail answers at once.
- Further routes: \`GET /openapi.json\` (OpenAPI 3.1), \`GET /docs\` (HTML), \`GET /llms.txt\` (text for agents), \`GET /metrics\` (Prometheus).`

const webhooks = `## Webhooks

Inlet sends the event of a mail to the webhook of its domain as one \`POST\` with an [InboundEvent](#inboundevent) as body. Any 2xx accepts it. Any other answer, or none within \`WEBHOOK_TIMEOUT\`, is a failed attempt. Redirects are not followed.

| header | value |
| --- | --- |
| \`Content-Type\` | \`application/json\` |
| \`X-Service-Event-Id\` | \`event_id\` of the body |
| \`X-Service-Timestamp\` | Unix time in seconds |
| \`X-Service-Signature\` | \`t=<timestamp>,v1=<hex>\`: HMAC-SHA256 over \`<timestamp>.<raw body>\`, keyed with the whole secret, \`whsec_\` included |
| \`X-Service-Signature-Previous\` | the same with the previous secret, for 24 hours after a rotation |
| \`webhook-id\`, \`webhook-timestamp\`, \`webhook-signature\` | the headers of the [Standard Webhooks](https://www.standardwebhooks.com) specification, for its libraries |

Reject a request if a header is missing or malformed, if the timestamp is more than 300 seconds from your clock, if the signature does not match, or if \`X-Service-Event-Id\` is not the \`event_id\` of the body. Verify the raw body before you parse it, and compare in constant time.

Inlet delivers at least once, in no fixed order. Deduplicate on \`event_id\`, or on \`idempotency_key\` together with \`recipient\`. The events of one message to two addresses of a domain share the \`idempotency_key\`.

Inlet retries a failed attempt after each of \`WEBHOOK_RETRY_DELAYS\` with a jitter of 20 %, and not before the \`Retry-After\` of a 429 or 503 (at most 24 hours). After the last retry the delivery is \`dead\`. It stays listed and can be replayed. A 410 makes it dead at once. The body is the same on every attempt, with a new timestamp and signature.

[Operational events](#operationalevent) go to the \`opsWebhookUrl\` of the workspace, one request at a time, with the same headers, signature and retries. Their \`event\` is \`operational\`, and \`type\` tells the kind.

| delivery | meaning |
| --- | --- |
| \`pending\` | waiting for its next attempt |
| \`delivered\` | the webhook answered 2xx |
| \`dead\` | the last retry failed |
| \`held\` | no webhook takes the mail. A replay sends it after you set one. With \`reason\`, a rule, the scanner or the loop guard holds it, and \`…/release\` delivers it |`

/** Renders docs/api.md from the OpenAPI document. */
export const render = (): string =>
  [
    "# API reference",
    "`npm run docs` generates this page from `src/http/api/Api.ts`. Do not edit it.",
    spec.info.description ?? "",
    conventions,
    ...spec.tags.map(group),
    webhooks,
    "## Schemas",
    ...[...named].map(
      ([name, shape]) => `### ${name}\n\n${shape.anyOf === undefined ? fields(shape, name) : `${typeOf(shape)}.`}`
    )
  ]
    .join("\n\n")
    .concat("\n")
