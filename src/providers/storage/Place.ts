import { Schema } from "effect"

/** The position of a message in the segment log. A message in a file or object of its own has none. */
export interface Place {
  /** The id of its segment. */
  readonly segment: string
  /** The offset of its record. */
  readonly at: number
  /** Bytes of the message. */
  readonly bytes: number
}

/** The columns of a position, all set or all null. */
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
