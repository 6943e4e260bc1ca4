import { Effect, Schema, SchemaGetter } from "effect"
import * as DomainNames from "../../domains/DomainNames.ts"
import { Invalid } from "../../model/ApiError.ts"
import type { DomainName } from "../../model/Domain.ts"

/**
 * No address contains NUL, and Postgres rejects it. A regular expression for this would take a time that grows with the
 * square of the length.
 */
const isAddress = (text: string) => text.slice(1, -1).includes("@") && !text.includes("\0")

/** Queries decode `+` as a blank, which an address has only in quotes. */
export const withPlus = (text: string): string => (text.startsWith('"') ? text : text.replaceAll(" ", "+"))

const address = (read: (text: string) => string) =>
  Schema.String.annotate({ description: "an address, compared without case" })
    .pipe(Schema.decode({ decode: SchemaGetter.transform(read), encode: SchemaGetter.transform((text) => text) }))
    .check(Schema.makeFilter(isAddress, { message: "Expected an address, such as agent-7@example.com" }))

export const Address = address(withPlus)

/** An address at a domain of this service. Its mail has the domain in canonical form. */
export const Recipient = address((text) => DomainNames.ofAddress(withPlus(text)))

/** Refuses a recipient at another domain, for which nothing could ever be found. */
export const requireAt = (domain: DomainName, recipient: string | null | undefined) =>
  recipient == null || recipient.slice(recipient.lastIndexOf("@") + 1).toLowerCase() === domain
    ? Effect.void
    : Effect.fail(new Invalid({ message: `recipient: Expected an address at ${domain}` }))
