import { Schema } from "effect"

/** Where a message stands in the log of segments. A message with a file or an object of its own has no place. */
export interface Place {
  /** The id of its segment. */
  readonly segment: string
  /** Where its record begins. */
  readonly at: number
  /** Bytes of the message. */
  readonly bytes: number
}

/** The columns of a row that name a place: all of them, or none. */
export const columns = {
  segment: Schema.NullOr(Schema.String),
  rawAt: Schema.NullOr(Schema.BigInt),
  rawBytes: Schema.NullOr(Schema.Int)
}

export interface Columns {
  readonly segment: string | null
  readonly rawAt: bigint | null
  readonly rawBytes: number | null
}

export const ofColumns = ({ rawAt, rawBytes, segment }: Columns): Place | null =>
  segment === null || rawAt === null || rawBytes === null ? null : { segment, at: Number(rawAt), bytes: rawBytes }
