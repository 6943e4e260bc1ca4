import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"

type ColumnType = "uuid" | "text" | "bytea" | "timestamptz" | "bool" | "int4" | "int8" | "float8"

/** Parameters for `unnest`, one array per column. The type is explicit, because nulls alone have none. */
export const of =
  <Row>(rows: ReadonlyArray<Row>) =>
  (type: ColumnType, value: (row: Row) => unknown) =>
    Result.getOrThrow(PgTypes.array(rows.map(value), PgTypes.OID[type]))
