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
  readonly webhook?: string
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
  "thread",
  "webhook"
] as const

export type FilterName = (typeof names)[number]

/** The filters in the query of an address. */
export const of = (query: Readonly<Record<string, string>>): Filters =>
  Object.fromEntries(names.flatMap((name) => (query[name] ? [[name, query[name]]] : [])))

/** A complete address, which has an index. Until it is typed to its end, a part of it is searched. */
const isAddress = (text: string) => /^[^@\s]+@[^@\s]+\.[^@\s.]{2,}$/.test(text)

/** The same filters as parameters of the API. */
export const asked = ({ from, recipient, ...others }: Filters) => ({
  ...others,
  ...(from === undefined ? {} : isAddress(from) ? { from } : { fromPart: from }),
  ...(recipient === undefined ? {} : isAddress(recipient) ? { recipient } : { recipientPart: recipient })
})

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
