import * as OpenApiDocument from "../src/http/api/OpenApiDocument.ts"
import type { Shape as ShapeInWords } from "../src/http/api/SchemaWords.ts"

/** A JSON Schema, as far as TypeScript types need it. */
interface Shape extends Omit<ShapeInWords, "anyOf" | "items" | "properties"> {
  readonly anyOf?: ReadonlyArray<Shape>
  readonly items?: Shape
  readonly properties?: Readonly<Record<string, Shape>>
  readonly additionalProperties?: Shape
}

const spec = OpenApiDocument.make("https://inlet.example.com")
const schemas: Readonly<Record<string, Shape>> = spec.components.schemas

const operations = new Map(
  Object.values(spec.paths).flatMap((methods) => Object.values(methods).map((made) => [made.operationId, made]))
)

/** Queries and answers without a name in the document, by operation. */
const queries = {
  DomainsQuery: "domains.list",
  ListQuery: "events.list",
  ListAllQuery: "events.listAll",
  ContentQuery: "events.content",
  AttemptsQuery: "events.deliveryAttempts",
  TraceQuery: "trace.search",
  OperationalEventsQuery: "operations.list"
}
const answers = {
  DomainsPage: "domains.list",
  InstantInbox: "domains.instantInbox",
  DomainWebhook: "domains.delivery",
  ChangedWebhook: "webhooks.update",
  WebhookMatch: "webhooks.match",
  EventsAnswer: "events.list",
  AllEventsAnswer: "events.listAll",
  Replayed: "events.replay",
  Released: "senderRules.release",
  AttemptsPage: "events.deliveryAttempts",
  TracePage: "trace.search",
  OperationalWebhook: "workspaces.update",
  OperationalEventsPage: "operations.list"
}
const named = [
  "Domain",
  "MxRecords",
  "EventContent",
  "SimulatedMail",
  "Replay",
  "DomainHealth",
  "SenderRule",
  "Webhook",
  "WebhookTestResult",
  "RawOptions",
  "LeasedDelivery",
  "Outcome",
  "Settled"
]

/** Request types also accept `undefined` for an optional field. */
const isSent = (name: string) => name in queries || ["SimulatedMail", "RawOptions", "Outcome"].includes(name)

const operation = (id: string) => {
  const made = operations.get(id)
  if (made === undefined) throw new Error(`${id}: no such operation in the document`)
  return made
}

const indent = (text: string) => text.replaceAll("\n", "\n  ")

const comment = ({ description }: Shape) =>
  description === undefined ? "" : `/** ${description.replaceAll("*/", "*\\/")} */\n`

const typeOf = (shape: Shape, sent: boolean): string => {
  const { $ref, additionalProperties, anyOf, items, properties, type = "unknown" } = shape
  if ($ref !== undefined) return nameOf($ref)
  if (shape.enum !== undefined) return shape.enum.map((value) => JSON.stringify(value)).join(" | ")
  if (anyOf !== undefined) return anyOf.map((part) => typeOf(part, sent)).join(" | ")
  if (items !== undefined) return `ReadonlyArray<${typeOf(items, sent)}>`
  if (properties !== undefined) return `${objectOf(shape, sent)}${[type].flat().includes("null") ? " | null" : ""}`
  if (additionalProperties !== undefined) return `Readonly<Record<string, ${typeOf(additionalProperties, sent)}>>`
  return [type]
    .flat()
    .map((one) => (one === "integer" ? "number" : one))
    .join(" | ")
}

const objectOf = ({ properties = {}, required = [] }: Shape, sent: boolean): string => {
  const fields = Object.entries(properties).map(([key, shape]) => {
    const type = typeOf(shape, sent)
    const field = required.includes(key) ? `${key}: ${type}` : `${key}?: ${type}${sent ? " | undefined" : ""}`
    return `\n${comment(shape)}readonly ${field}`
  })
  return `{${indent(fields.join(""))}\n}`
}

const nameOf = (reference: string) => reference.slice(reference.lastIndexOf("/") + 1)

const queryOf = (id: string): Shape => {
  const parameters = operation(id).parameters.filter((parameter) => parameter.in === "query")
  return {
    properties: Object.fromEntries(
      parameters.map(({ description, name, schema }) => [
        name,
        description === undefined ? schema : { ...schema, description }
      ])
    )
  }
}

const answerOf = (id: string): Shape => {
  const shapes = Object.values(operation(id).responses).flatMap(({ content }): ReadonlyArray<Shape> => {
    const shape = content?.["application/json"]?.schema
    return shape === undefined ? [] : [shape]
  })
  const [only, ...others] = shapes
  return only !== undefined && others.length === 0 ? only : { anyOf: shapes }
}

/** Every schema that these refer to, directly or indirectly. */
const reached = (shapes: Iterable<Shape>, found = new Map<string, Shape>()) => {
  const references = JSON.stringify([...shapes]).matchAll(/"#\/components\/schemas\/(\w+)"/g)
  for (const [, name = ""] of references) {
    const shape = schemas[name]
    if (found.has(name) || shape === undefined) continue
    found.set(name, shape)
    reached([shape], found)
  }
  return found
}

const declarationsOf = (all: ReadonlyMap<string, Shape>) =>
  [...all]
    .sort(([one], [other]) => one.localeCompare(other, "en"))
    .map(([name, shape]) => {
      const type = typeOf(shape, isSent(name))
      const form = shape.properties === undefined ? `type ${name} = ${type}` : `interface ${name} ${type}`
      return `${comment(shape)}export ${form}`
    })

const fileOf = (declarations: ReadonlyArray<string>) =>
  ["// Generated by npm run docs from src/http/api/Api.ts, and as long as that contract. Do not edit.", ...declarations]
    .join("\n\n")
    .concat("\n")

/** src/client/Contract.ts: the types that src/client uses, made from the contract. */
export const render = (): string => {
  const own = new Map<string, Shape>([
    ...Object.entries(queries).map(([name, id]) => [name, queryOf(id)] as const),
    ...Object.entries(answers).map(([name, id]) => [name, answerOf(id)] as const),
    ...named.flatMap((name) => {
      const shape = schemas[name]
      return shape === undefined ? [] : [[name, shape] as const]
    })
  ])
  return fileOf(declarationsOf(new Map([...reached(own.values()), ...own])))
}

/** src/console/api/Contract.ts: the JSON answer of each route that a workspace or the operator may call. */
export const renderRoutes = (): string => {
  const routes = Object.entries(spec.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, made]) => {
      const isOther = /^(demo|system|payments)\./.test(made.operationId)
      const isJson = Object.values(made.responses).some(({ content }) => content?.["application/json"] !== undefined)
      if (isOther) return []
      const answer = isJson ? answerOf(made.operationId) : undefined
      return [[`${method.toUpperCase()} ${path}`, answer] as const]
    })
  )
  const shapes = routes.flatMap(([, answer]) => (answer === undefined ? [] : [answer]))
  const fields = routes.map(
    ([route, answer]) =>
      `\n  readonly ${JSON.stringify(route)}: ${answer === undefined ? "undefined" : indent(typeOf(answer, false))}`
  )
  return fileOf([
    ...declarationsOf(reached(shapes)),
    `/** The answer of each route. */\nexport interface Answers {${fields.join("")}\n}`
  ])
}
