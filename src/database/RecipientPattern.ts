import type { SqlClient, Statement } from "effect/sql"

/** The pattern of LIKE for a glob. Only `*` has a meaning in a pattern. */
const likeOf = (glob: string) => glob.replace(/[\\%_]/g, "\\$&").replaceAll("*", "%")

/**
 * The condition that a pattern takes the local part of the address in a column, as `Routes.takes` decides it. Compares
 * in the collation C, so that a locale's rules for upper case add no address.
 */
export const takes = (sql: SqlClient.SqlClient, pattern: string, column: Statement.Fragment): Statement.Fragment => {
  const address = sql`lower(${column} COLLATE "C")`
  const typed = sql`substring(${address} FROM '^(.*)@[^@]*$')`
  // As LocalPart.unquoted.
  const localPart = sql`CASE WHEN ${typed} LIKE '"%"'
    THEN regexp_replace(substr(${typed}, 2, length(${typed}) - 2), '\\\\(.)', '\\1', 'g') ELSE ${typed} END`
  const begins = `${likeOf(pattern)}%`
  // A name also takes addresses with a tag.
  const tagged = likeOf(pattern.includes("*") ? pattern : `${pattern}+*`)
  // Most addresses begin otherwise, and need no regular expression.
  return sql`CASE
    WHEN ${address} LIKE ${begins} OR ${address} LIKE ${`"${begins}`} OR ${address} LIKE '"%\\\\%'
    THEN ${localPart} = ${pattern} OR ${localPart} LIKE ${tagged} ELSE false
  END`
}
