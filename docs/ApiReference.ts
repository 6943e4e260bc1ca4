import { OpenApi } from "effect/http-api"
import { Api } from "../src/http/Api.ts"

/** The part of JSON Schema that is read here. */
interface Shape {
  readonly $ref?: string
  readonly type?: string
  readonly format?: string
  readonly description?: string
  readonly enum?: ReadonlyArray<unknown>
  readonly anyOf?: ReadonlyArray<Shape>
  readonly items?: Shape
  readonly properties?: Readonly<Record<string, Shape>>
  readonly required?: ReadonlyArray<string>
}

const spec = OpenApi.fromApi(Api)
const schemas = spec.components.schemas as Readonly<Record<string, Shape>>

/** A schema with two forms is shown once, as the object it is on the wire. */
const nameOf = (key: string) => key.replace(/Encoded$/, "")
const named = new Map(
  Object.entries(schemas)
    .filter(([, shape]) => shape.properties !== undefined)
    .map(([key, shape]): [string, Shape] => [nameOf(key), shape])
    .sort(([a], [b]) => a.localeCompare(b, "en"))
)

const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\w\s-]/g, "")
    .replaceAll(" ", "-")

/** A type in words, short enough for a table cell. */
const typeOf = (shape: Shape): string => {
  if (shape.$ref !== undefined) {
    const name = nameOf(shape.$ref.slice(shape.$ref.lastIndexOf("/") + 1))
    return `[${name}](#${anchorOf(name)})`
  }
  if (shape.enum !== undefined) return shape.enum.map((value) => `\`${JSON.stringify(value)}\``).join(", ")
  if (shape.anyOf !== undefined) return shape.anyOf.map(typeOf).join(" or ")
  if (shape.items !== undefined) return `array of ${typeOf(shape.items)}`
  if (shape.properties !== undefined) {
    return `{ ${Object.entries(shape.properties)
      .map(([key, value]) => `${key}: ${typeOf(value)}`)
      .join(", ")} }`
  }
  if (shape.format === "uuid") return "UUID"
  if (shape.format === "binary") return "bytes"
  return shape.type ?? "any"
}

const table = (header: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>) => {
  const line = (cells: ReadonlyArray<string>) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`
  return [line(header), line(header.map(() => "---")), ...rows.map(line)].join("\n")
}

const fieldRows = ({ properties = {}, required = [] }: Shape) =>
  Object.entries(properties).map(([key, shape]) => [
    `\`${key}\``,
    typeOf(shape),
    [required.includes(key) ? "" : "optional", shape.description ?? ""].filter((part) => part !== "").join("; ")
  ])

/** An object in full, or another object and the fields beyond it. */
const fields = (shape: Shape, self = ""): string => {
  const own = Object.keys(shape.properties ?? {})
  const base = [...named].find(([name, { properties = {} }]) => {
    const keys = Object.keys(properties)
    return name !== self && keys.length > 5 && keys.length < own.length && keys.every((key) => own.includes(key))
  })
  if (base === undefined) return table(["field", "type", "meaning"], fieldRows(shape))
  const [name, { properties = {} }] = base
  const more = Object.fromEntries(Object.entries(shape.properties ?? {}).filter(([key]) => !(key in properties)))
  return `Every field of [${name}](#${anchorOf(name)}), and:\n\n${table(["field", "type", "meaning"], fieldRows({ ...shape, properties: more }))}`
}

const answers = (operation: OpenApi.OpenAPISpecOperation): ReadonlyArray<string> => {
  const hasPath = operation.parameters.some((parameter) => parameter.in === "path")
  const hasInput =
    operation.parameters.some((parameter) => parameter.in !== "path") || operation.requestBody !== undefined
  const isOpen = operation.security.length === 0
  const isAdmin = operation.security.some((scheme) => "admin" in scheme)
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
  // The check of requests may answer 400 and 404 everywhere, but only where there is something to check.
  const errors = statuses
    .map(([status]) => status)
    .filter((status) => Number(status) >= 400)
    .filter((status) =>
      status === "400" ? hasInput || (hasPath && isAdmin) : status === "404" ? hasPath || isAdmin : true
    )
  return [
    [...successes].map(([text, codes]) => `Answers ${codes.join(" or ")} ${text}`).join("\n\n"),
    ...(errors.length === 0 ? [] : [`Errors: ${errors.map((status) => `\`${status}\``).join(", ")}.`]),
    ...(isOpen ? ["No key is needed."] : [])
  ]
}

const endpoint = (method: string, path: string, operation: OpenApi.OpenAPISpecOperation): string => {
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
              const shape = parameter.schema as Shape
              return [`\`${parameter.name}\``, parameter.in, typeOf(shape), shape.description ?? ""]
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

const group = ({ description, name }: OpenApi.OpenAPISpecTag): string => {
  const endpoints = Object.entries(spec.paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item[method]
      return operation?.tags.includes(name) === true ? [endpoint(method, path, operation)] : []
    })
  )
  return [`## ${name}`, ...(description === undefined ? [] : [`${description}.`]), ...endpoints].join("\n\n")
}

const conventions = `## Conventions

- Bodies are JSON in UTF-8, at most 256 KiB. Ids are UUIDs, times are ISO 8601 in UTC with milliseconds.
- Send \`Authorization: Bearer <api_key>\`, unless an endpoint says that no key is needed.
- Every error is \`{"error": "<message>"}\`. The message is for people and names the field; programs go by the status.

| status | meaning |
| --- | --- |
| \`400\` | the request is not as documented |
| \`401\` | the API key is missing or wrong |
| \`404\` | there is no such thing, or it is another workspace's |
| \`409\` | the state does not allow it |
| \`413\` | the body is larger than 256 KiB |
| \`429\` | too many at once; \`Retry-After\` says when to come back |
| \`500\` | a bug; the log has more under the \`X-Request-Id\` |
| \`502\` | a registrar or payment provider answered wrongly, or not at all |
| \`503\` | the database, or the store of raw messages, is out of reach; \`Retry-After\` says when to come back |

- Every response carries \`X-Request-Id\`: yours, if you send one of at most 128 plain characters.
- Lists are newest first. \`next_cursor\` is the \`cursor\` of the next page, and \`null\` at the end.
- Further routes: \`GET /openapi.json\` (OpenAPI 3.1), \`GET /docs\` (the same for people), \`GET /llms.txt\` (the same for agents), \`GET /metrics\` (Prometheus).`

const webhooks = `## Webhooks

Each event is sent to the webhook of its domain as one \`POST\` whose body is an [InboundEvent](#inboundevent). Any 2xx accepts it. Anything else, and no answer within \`WEBHOOK_TIMEOUT\`, is a failed attempt. Redirects are not followed.

| header | value |
| --- | --- |
| \`Content-Type\` | \`application/json\` |
| \`X-Service-Event-Id\` | \`event_id\` of the body |
| \`X-Service-Timestamp\` | Unix time in seconds |
| \`X-Service-Signature\` | \`t=<timestamp>,v1=<hex>\`: HMAC-SHA256 over \`<timestamp>.<raw body>\`, keyed with the whole secret, \`whsec_\` included |
| \`X-Service-Signature-Previous\` | the same with the secret before, for 24 hours after a rotation |
| \`webhook-id\`, \`webhook-timestamp\`, \`webhook-signature\` | the headers of the [Standard Webhooks](https://www.standardwebhooks.com) specification, for its libraries |

Refuse a request when a header is missing or malformed, when the timestamp is more than 300 seconds from your clock, when the signature does not match, or when \`X-Service-Event-Id\` is not the \`event_id\` of the body. Verify the bytes as they came, before you parse them, and compare in constant time.

Deliveries come at least once, in no promised order. Deduplicate on \`event_id\`. \`idempotency_key\` alone is not enough: the two events of one message to two addresses of a domain share it. It works together with \`recipient\`.

A failed attempt is made again after each of \`WEBHOOK_RETRY_DELAYS\`, spread by a fifth, and never before the \`Retry-After\` of a 429 or 503 (at most 24 hours). When they are used up the delivery is \`dead\`: it stays listed and can be replayed. A 410 makes it dead at once. The body is the same on every attempt, the timestamp and the signature are new.

| delivery | meaning |
| --- | --- |
| \`pending\` | waiting for its next attempt |
| \`delivered\` | the webhook answered 2xx |
| \`dead\` | the attempts are used up |
| \`held\` | no webhook was set when the mail came; replay sends it |`

/** docs/api.md: everything that the contract says, for people. */
export const render = (): string =>
  [
    "# API reference",
    "Made from the contract in `src/http/Api.ts` by `npm run docs`; do not edit.",
    spec.info.description ?? "",
    conventions,
    ...spec.tags.map(group),
    webhooks,
    "## Schemas",
    ...[...named].map(([name, shape]) => `### ${name}\n\n${fields(shape, name)}`)
  ]
    .join("\n\n")
    .concat("\n")
