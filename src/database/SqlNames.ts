import { String } from "effect"

/** Converts column names between snake case and camel case. JSON is unchanged. */
export const transforms = {
  transformQueryNames: String.camelToSnake,
  transformResultNames: String.snakeToCamel,
  transformJson: false
} as const
