import type { Operation } from "./OpenApiDocument.ts"
import type { Shape } from "./SchemaWords.ts"

/** A route or schema of the reference that a search can find. */
export interface Entry {
  readonly href: string
  /** The HTTP method, or undefined for a schema. */
  readonly method: string | undefined
  /** The path of a route, or the name of a schema. */
  readonly name: string
  readonly summary: string
  /** Everything else that is searched: description, parameters and fields. */
  readonly details: string
}

const mostCharacters = 100
const mostWords = 8

/** An entry with the lower-case text that is searched. */
export interface Indexed {
  readonly entry: Entry
  readonly heading: string
  readonly text: string
}

export const index = (entries: ReadonlyArray<Entry>): ReadonlyArray<Indexed> =>
  entries.map((entry) => {
    const heading = `${entry.method ?? ""} ${entry.name} ${entry.summary}`.toLowerCase()
    return { entry, heading, text: `${heading} ${entry.details.toLowerCase()}` }
  })

/**
 * Finds the entries that contain every word of the query, in any order and letter case. Entries with all words in
 * name or summary come first. Uses the first 8 words of the first 100 characters.
 */
export const find = (indexed: ReadonlyArray<Indexed>, query: string): ReadonlyArray<Entry> => {
  const words = query
    .slice(0, mostCharacters)
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "")
    .slice(0, mostWords)
  if (words.length === 0) return []
  const containsAll = (text: string) => words.every((word) => text.includes(word))
  const found = indexed.filter(({ text }) => containsAll(text))
  const inHeading = found.filter(({ heading }) => containsAll(heading))
  const elsewhere = found.filter(({ heading }) => !containsAll(heading))
  return [...inHeading, ...elsewhere].map(({ entry }) => entry)
}

/** The searchable words of an operation: its description, parameters and body fields. */
export const detailsOf = ({ description = "", parameters, requestBody, responses }: Operation): string => {
  const contents = [requestBody, ...Object.values(responses)].flatMap((part) => Object.values(part?.content ?? {}))
  return [
    description,
    ...parameters.flatMap(({ description = "", name }) => [name, description]),
    ...contents.map(({ schema }) => fieldsOf(schema as Shape))
  ].join(" ")
}

/** The names and meanings of a schema's fields. */
export const fieldsOf = ({ description = "", properties = {} }: Shape): string =>
  [description, ...Object.entries(properties).flatMap(([name, field]) => [name, field.description ?? ""])].join(" ")
