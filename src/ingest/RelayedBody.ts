import { Effect, Schema, Stream } from "effect"
import type { Share } from "../intake/DataMemory.ts"
import { MessageBytes } from "../intake/MessageBytes.ts"
import * as RefusedHeader from "../refusals/RefusedHeader.ts"

/** The body did not fit into the size of a message, or into the memory for all messages. */
export class NoRoom extends Schema.TaggedError<NoRoom>()("NoRoom", {
  isTooLarge: Schema.Boolean,
  /** The bytes so far. */
  bytes: Schema.Int,
  /** The first chunks, which have subject and Message-ID. */
  first: Schema.Array(Schema.Uint8Array)
}) {}

/** A chunk of a few bytes would retain the whole buffer that it was read into. */
const alone = (piece: Uint8Array) => (piece.byteLength * 2 < piece.buffer.byteLength ? new Uint8Array(piece) : piece)

/** Collects a body within its share of the memory. Reserves each chunk as it comes, as SMTP does for DATA. */
export const collect = Effect.fnUntraced(function* <E>(
  body: Stream.Stream<Uint8Array, E>,
  { mostBytes, share }: { readonly share: Share; readonly mostBytes: number }
) {
  const message = new MessageBytes()
  yield* Stream.runForEach(body, (piece) => {
    const bytes = message.byteLength + piece.byteLength
    const isTooLarge = bytes > mostBytes
    if (isTooLarge || !share.take(piece.byteLength)) {
      return new NoRoom({ isTooLarge, bytes, first: message.first(RefusedHeader.mostBytes) })
    }
    message.push(alone(piece))
    return Effect.void
  })
  return message
})
