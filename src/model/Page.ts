import { Effect, Schema } from "effect"
import { Invalid } from "./ApiError.ts"

/** A page of a list. */
export interface Page<A> {
  readonly items: ReadonlyArray<A>
  /** Pass it as `cursor` for the next page. Null at the end. */
  readonly nextCursor: string | null
}

/** A cursor that no page had. */
export const noSuchCursor = new Invalid({ message: "cursor: Expected the next_cursor of an earlier page of this list" })

/** The id that a cursor is, or undefined without one. */
export const idIn =
  <Id extends string>(id: Schema.Codec<Id, string>) =>
  (cursor: string | undefined): Effect.Effect<Id | undefined, Invalid> => {
    if (cursor === undefined) return Effect.succeed(undefined)
    return Schema.is(id)(cursor) ? Effect.succeed(cursor) : Effect.fail(noSuchCursor)
  }

/** The page of rows of which one more than `limit` was asked for. The last id of the page is its cursor. */
export const of = <Row extends { readonly id: string }>(rows: ReadonlyArray<Row>, limit: number): Page<Row> => ({
  items: rows.slice(0, limit),
  nextCursor: rows.length > limit ? (rows[limit - 1]?.id ?? null) : null
})
