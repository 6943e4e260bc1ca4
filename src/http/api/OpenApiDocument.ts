import { OpenApi } from "effect/http-api"
import * as Schemas from "../requests/OpenApiSchemas.ts"
import * as ReadKeys from "../requests/ReadKeys.ts"
import { Api } from "./Api.ts"
import * as Answers from "./OpenApiAnswers.ts"
import * as Examples from "./OpenApiExamples.ts"

export interface Parameter {
  readonly name: string
  readonly in: string
  readonly required: boolean
  readonly description?: string
  readonly schema: Schemas.JsonSchema
}

type Content = Readonly<Record<string, { readonly schema: Schemas.JsonSchema; readonly example?: unknown }>>

export interface Answer {
  readonly $ref?: string
  readonly description?: string
  readonly headers?: Readonly<Record<string, unknown>>
  readonly content?: Content
}

export interface Operation {
  readonly tags: ReadonlyArray<string>
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly parameters: ReadonlyArray<Parameter>
  readonly requestBody?: { readonly required: boolean; readonly content: Content }
  readonly security: ReadonlyArray<Readonly<Record<string, ReadonlyArray<string>>>>
  readonly responses: Readonly<Record<string, Answer>>
}

/** The OpenAPI document, source of /openapi.json, /docs, /llms.txt and docs/api.md. */
export interface Document {
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  readonly tags: ReadonlyArray<{ readonly name: string; readonly description: string }>
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Schemas.JsonSchema>>
    readonly responses: Readonly<Record<string, Answer>>
  }
}

/** The document of an instance that its users see at this URL. */
export const make = (url: string): Document => {
  const { components, info, openapi, paths, tags } = OpenApi.fromApi(Api, options)
  // The library's type allows parameters beside the methods of a path, and it writes none there.
  const operations = Object.fromEntries(
    Object.entries(paths).map(([path, methods]) => [
      path,
      Object.fromEntries(Object.entries(methods).map(([method, made]) => [method, operation(path, made as Made)]))
    ])
  )
  const used = JSON.stringify(operations)
  const document = {
    openapi,
    info: { ...info, description: info.description ?? "", license: { name: "MIT", identifier: "MIT" } },
    servers: [{ url: url.replace(/\/$/, ""), description: "This instance" }],
    security: [],
    tags: tags.map(({ description = "", ...tag }) => ({ ...tag, description })),
    paths: operations,
    webhooks: { [Examples.event.event]: { post: webhook } },
    components: {
      schemas: Schemas.components(components.schemas),
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "The workspace's own API key: ak_live_…" },
        [ReadKeys.scheme]: { type: "http", scheme: "bearer", description: "A read-only key: ak_read_…" },
        admin: { type: "http", scheme: "bearer", description: "ADMIN_TOKEN of the service" },
        demo: { type: "apiKey", in: "cookie", name: "inlet_demo", description: "Set by POST /api/demo/inbox" }
      },
      headers: Answers.headers,
      responses: Object.fromEntries(
        Object.values(Answers.errors)
          .filter(({ name }) => used.includes(`#/components/responses/${name}"`))
          .map((error) => [error.name, errorAnswer(error)])
      )
    }
  }
  return document
}

/** One object, for the library keeps what it made by it. */
const options = { includeAnnotationKey: Schemas.isForTheDocument }

/** An operation as the library makes it. */
type Made = OpenApi.OpenAPISpecOperation

const requestId = { "X-Request-Id": { $ref: "#/components/headers/X-Request-Id" } }

const errorAnswer = (error: (typeof Answers.errors)[keyof typeof Answers.errors]) => ({
  description: error.description,
  headers: {
    ...requestId,
    ...("header" in error ? { [error.header]: { $ref: `#/components/headers/${error.header}` } } : {})
  },
  content: {
    "application/json": {
      schema: { $ref: "#/components/schemas/Error" },
      example: { error: error.description }
    }
  }
})

const operation = (path: string, made: Made): Operation => {
  const { operationId, parameters, requestBody, responses, summary = "", ...rest } = made
  return {
    ...rest,
    summary,
    operationId,
    parameters: parameters.map(parameter),
    ...(requestBody === undefined
      ? {}
      : { requestBody: { required: true, content: content(requestBody.content, Examples.requests[operationId]) } }),
    responses: {
      ...Object.fromEntries(
        Object.entries(responses)
          .filter(([status]) => Number(status) < 400)
          .map(([status, answer]) => [
            status,
            {
              description: Answers.successes[operationId]?.[status] ?? answer.description,
              headers: requestId,
              ...(answer.content === undefined
                ? {}
                : { content: content(answer.content, Examples.answers[operationId]?.[status]) })
            }
          ])
      ),
      ...Object.fromEntries(
        Object.entries(Answers.errors)
          .filter(([status]) => canBe(Number(status), path, made))
          .map(([status, { name }]) => [status, { $ref: `#/components/responses/${name}` }])
      )
    }
  }
}

/** Checks whether an operation may answer with this error, by its contract or its kind of route. */
const canBe = (status: number, path: string, { parameters, requestBody, responses, security }: Made): boolean => {
  const isSystem = !/^\/(api|admin)\//.test(path)
  const isAdmin = path.startsWith("/admin/")
  switch (status) {
    case 400:
      return !isSystem
    // The check of requests declares it everywhere, and finds it only in paths.
    case 404:
      return isAdmin || parameters.some((one) => one.in === "path") || ownNotFound.has(path)
    case 413:
      return requestBody !== undefined
    case 429:
      return responses[status] !== undefined || (security.length > 0 && !isAdmin)
    case 500:
      return true
    case 503:
      return path !== "/health"
    default:
      return responses[status] !== undefined
  }
}

/** Routes without an id in their path that are not everywhere. */
const ownNotFound = new Set(["/api/domains/wallet", "/api/webhooks/stripe"])

const parameter = ({ in: where, name, required, schema }: Made["parameters"][number]): Parameter => {
  // Moves the description from the schema to the parameter.
  const { description, ...rest } = Schemas.plain(schema, name)
  const meaning = typeof description === "string" ? description : where === "path" ? pathMeanings[name] : undefined
  return { name, in: where, required, ...(meaning === undefined ? {} : { description: meaning }), schema: rest }
}

/** True if read keys may call it. */
export const takesReadKey = ({ security }: Operation): boolean => security.some((one) => ReadKeys.scheme in one)

const pathMeanings: Readonly<Record<string, string>> = {
  id: "id of the domain",
  eventId: "event_id of the event",
  orderId: "order_id of the order",
  keyId: "id of the key",
  domain: "name of the domain"
}

const content = (made: NonNullable<Made["requestBody"]>["content"], example: unknown) =>
  Object.fromEntries(
    // JSON first: generators take that one.
    Object.entries(made)
      .toSorted(([one], [other]) => one.localeCompare(other))
      .map(([type, media]) => [
        type,
        {
          // For a stream, the schema describes the data of one event.
          schema: Schemas.plain(type === "text/event-stream" ? dataOf(media?.schema) : media?.schema),
          ...(example === undefined || type !== "application/json" ? {} : { example })
        }
      ])
  )

/** What the data of an event of a stream is. The library keeps that of one kind elsewhere. */
const dataOf = (schema: unknown) =>
  (schema as { readonly properties: { readonly data: Schemas.JsonSchema } }).properties.data.contentSchema ??
  inboundEvent

const inboundEvent = { $ref: "#/components/schemas/InboundEvent" }

const header = (name: string, description: string, schema: Schemas.JsonSchema = { type: "string" }) => ({
  name,
  in: "header",
  required: true,
  description,
  schema
})

const webhook = {
  tags: ["Events"],
  operationId: "inboundEmailReceived",
  summary: "An email arrived",
  description:
    "Sent at least once per event to the domain's webhook. Verify the request before you parse it. `X-Service-Signature` is an HMAC-SHA256 of `<timestamp>.<raw body>`, keyed with the whole signing secret. Reject timestamps more than 300 s off, and an `X-Service-Event-Id` that differs from the body's `event_id`. Deduplicate by `event_id`.",
  security: [],
  parameters: [
    header("X-Service-Event-Id", "event_id of the body", { type: "string", format: "uuid" }),
    header("X-Service-Timestamp", "Unix time in seconds", { type: "string", pattern: "^\\d+$" }),
    header("X-Service-Signature", "t=<timestamp>,v1=<hex>", { type: "string", pattern: "^t=\\d+,v1=[\\da-f]{64}$" }),
    {
      ...header("X-Service-Signature-Previous", "the same with the secret before, for 24 hours after a rotation"),
      required: false
    },
    header("webhook-id", "event_id of the body, as the Standard Webhooks specification has it"),
    header("webhook-timestamp", "Unix time in seconds, as the Standard Webhooks specification has it"),
    header("webhook-signature", "v1,<base64>, as the Standard Webhooks specification has it")
  ],
  requestBody: {
    required: true,
    content: {
      "application/json": { schema: inboundEvent, example: Examples.event }
    }
  },
  responses: {
    "2XX": { description: "Delivered" },
    "410": { description: "Gone. The delivery is dead without retries" },
    default: { description: "Failed. Inlet retries for about three days" }
  }
}
