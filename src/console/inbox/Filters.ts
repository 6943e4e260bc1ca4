/** The filters of the inbox, as the query of its address and of the API. */
export interface Filters {
  readonly subject?: string
  readonly from?: string
  readonly recipient?: string
  readonly delivery?: string
  readonly has?: string
  readonly sender?: string
  readonly kind?: string
  readonly spam?: string
  readonly newerThan?: string
  readonly since?: string
  readonly until?: string
  readonly thread?: string
}

const names = [
  "subject",
  "from",
  "recipient",
  "delivery",
  "has",
  "sender",
  "kind",
  "spam",
  "newerThan",
  "since",
  "until",
  "thread"
] as const

export type FilterName = (typeof names)[number]

/** The filters in the query of an address. */
export const of = (query: Readonly<Record<string, string>>): Filters =>
  Object.fromEntries(names.flatMap((name) => (query[name] ? [[name, query[name]]] : [])))

/** The same filters with one changed, as a query. */
export const queryWith = (filters: Filters, name: FilterName, value: string): string => {
  const search = new URLSearchParams(Object.entries({ ...filters, [name]: value }).filter(([, text]) => text !== ""))
  return search.size === 0 ? "" : `?${search}`
}

export const queryOf = (filters: Filters): string => {
  const search = new URLSearchParams(Object.entries(filters))
  return search.size === 0 ? "" : `?${search}`
}

/** False for filters that the stream of events does not know. The first page is loaded again for new events then. */
export const isLive = ({ delivery, since, until }: Filters): boolean =>
  delivery === undefined && since === undefined && until === undefined
