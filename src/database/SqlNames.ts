import { String } from "effect"

/** Columns are named in snake case, and in code in camel case; JSON is left as it is. */
export const transforms = {
  transformQueryNames: String.camelToSnake,
  transformResultNames: String.snakeToCamel,
  transformJson: false
} as const
