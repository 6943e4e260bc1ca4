import { Schema } from "effect"
import { canonical } from "../../domains/DomainNames.ts"
import { Domain, DomainName } from "../../model/Domain.ts"
import type { Page } from "../../model/Page.ts"
import * as PageQuery from "../requests/PageQuery.ts"
import { text } from "../requests/TextQuery.ts"

/** The page size without a limit. */
const limitByDefault = 100

const form = "Expected a domain name such as mail.example.com"

/** The query of a list of domains. */
export const query = {
  domain: Schema.optionalKey(
    Schema.String.annotate({ description: "only the domain with this name" }).check(
      Schema.makeFilter((name: string) => canonical(name) !== undefined, { message: form })
    )
  ),
  search: text(200, "contained in the name"),
  takes_mail: Schema.optionalKey(
    Schema.Literal("true").annotate({ description: "`true`: only domains that accept mail", message: "Expected true" })
  ),
  limit: Schema.optionalKey(PageQuery.between(1, limitByDefault, `page size, ${limitByDefault} by default`)),
  cursor: PageQuery.Cursor
}

/** A page of domains. */
export const answer = Schema.Struct({ domains: Schema.Array(Domain), next_cursor: PageQuery.NextCursor })

interface Query {
  readonly domain?: string
  readonly search?: string
  readonly takes_mail?: "true"
  readonly limit?: number
  readonly cursor?: string
}

/** Which domains the query asks for, and which page of them. */
export const asked = ({ cursor, domain, limit = limitByDefault, search, takes_mail }: Query) => {
  const name = domain === undefined ? undefined : canonical(domain)
  return {
    wanted: {
      name: name === undefined ? undefined : DomainName.make(name),
      search: search?.trim().toLowerCase(),
      takesMail: takes_mail === "true"
    },
    page: { limit, cursor }
  }
}

export const of = ({ items, nextCursor }: Page<Domain>): typeof answer.Type => ({
  domains: items,
  next_cursor: nextCursor
})
