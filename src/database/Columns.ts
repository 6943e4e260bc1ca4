import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"

type ColumnType = "uuid" | "text" | "bytea" | "timestamptz" | "bool" | "int4" | "int8" | "float8"

/** Parameters for `unnest`, each with one value of every row; the type is told, for nulls alone have none. */
export const of =
  <Row>(rows: ReadonlyArray<Row>) =>
  (type: ColumnType, value: (row: Row) => unknown) =>
    Result.getOrThrow(PgTypes.array(rows.map(value), PgTypes.OID[type]))
