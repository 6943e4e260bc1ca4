import { Schema } from "effect"

/** A schema of the document, as far as it is rewritten. */
export interface JsonSchema {
  readonly [key: string]: unknown
}

/** Schema annotations for parameters whose text is a number or a time. */
export const wholeNumber = (minimum: number, maximum: number) => ({ "x-wire": { type: "integer", minimum, maximum } })
export const dateTime = { "x-wire": { type: "string", format: "date-time" } }

/** An annotation that includes a schema in the document. It is removed here. */
export const isForTheDocument = (key: string): boolean => key === "x-wire"

const isRecord = Schema.is(Schema.Record(Schema.String, Schema.Unknown))

/** The path of schemas, for references to them. */
const component = "#/components/schemas/"

/** The wire form has the name of its type. */
const nameOf = (name: string) => name.replace(/Encoded$/, "")

/** Rewrites a schema in wire terms instead of the library's. */
export const plain = (schema: unknown, property = ""): JsonSchema => {
  const rewritten = rewrite(schema, property)
  return isRecord(rewritten) ? rewritten : {}
}

const rewrite = (schema: unknown, property = ""): unknown => {
  if (Array.isArray(schema)) return schema.map((part) => rewrite(part))
  if (!isRecord(schema)) return schema
  const { additionalProperties, anyOf, pattern, "x-wire": wire, ...rest } = schema
  const kept: Record<string, unknown> = { ...rest, ...(isRecord(wire) ? wire : {}) }
  // Later versions may add fields to answers, and requests may contain unknown ones.
  if (additionalProperties !== undefined && additionalProperties !== false) {
    kept.additionalProperties = rewrite(additionalProperties)
  }
  if (pattern !== undefined && rest.format !== "uuid") kept.pattern = pattern
  if (typeof rest.$ref === "string") kept.$ref = component + nameOf(rest.$ref.slice(component.length))
  if (Array.isArray(anyOf)) Object.assign(kept, alternatives(anyOf.map((part) => rewrite(part))))
  for (const key of ["items", "contentSchema"]) if (key in kept) kept[key] = rewrite(kept[key])
  if (isRecord(kept.properties)) {
    kept.properties = Object.fromEntries(
      Object.entries(kept.properties).map(([name, value]) => [name, rewrite(value, name)])
    )
  }
  // The full number range of JavaScript is no useful bound.
  if (kept.minimum === Number.MIN_SAFE_INTEGER) delete kept.minimum
  if (kept.maximum === Number.MAX_SAFE_INTEGER) delete kept.maximum
  const isText = kept.type === "string" || (Array.isArray(kept.type) && kept.type.includes("string"))
  if (isText && /(_at|At)$/.test(property)) kept.format = "date-time"
  return kept
}

/** Simplifies `X or null` to one schema with two types, and single alternatives to themselves. */
const alternatives = (parts: ReadonlyArray<unknown>): JsonSchema => {
  const [first, second, ...others] = parts
  if (parts.length === 1 && isRecord(first)) return first
  const isNullable = isRecord(second) && second.type === "null" && others.length === 0
  if (!isNullable || !isRecord(first) || typeof first.type !== "string") return { anyOf: parts }
  return {
    ...first,
    type: [first.type, "null"],
    ...(Array.isArray(first.enum) ? { enum: [...first.enum, null] } : {})
  }
}

/** The named schemas, each once, under the name of its wire form. */
export const components = (schemas: Readonly<Record<string, unknown>>): Record<string, JsonSchema> =>
  Object.fromEntries(
    Object.entries(schemas)
      // The text of an event within a stream has no schema of its own.
      .filter(([name, schema]) => !(isRecord(schema) && "contentSchema" in schema && nameOf(name) in schemas))
      .map(([name, schema]) => [nameOf(name), plain(schema)] as const)
      .sort(([a], [b]) => a.localeCompare(b, "en"))
  )
