import { Schema, SchemaGetter } from "effect"

/** No address contains NUL, and Postgres rejects it. */
const form = /^[^\0]+@[^\0]+$/

/** Queries decode `+` as a blank, which an address has only in quotes. */
const withPlus = (text: string): string => (text.startsWith('"') ? text : text.replaceAll(" ", "+"))

export const Address = Schema.String.annotate({ description: "an address, compared without case" })
  .pipe(Schema.decode({ decode: SchemaGetter.transform(withPlus), encode: SchemaGetter.transform((text) => text) }))
  .check(Schema.isPattern(form, { message: "Expected an address, such as agent-7@example.com" }))
