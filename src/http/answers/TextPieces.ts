import { Effect, Stream } from "effect"

/** UTF-16 units that are encoded at a time, about 256 KiB. */
const most = 128 * 1024

/**
 * Encodes texts as UTF-8. Long ones are encoded in chunks, and other requests run in between. Each text may consist
 * of several parts.
 */
export const encoded = <E, R>(texts: Stream.Stream<ReadonlyArray<string>, E, R>): Stream.Stream<Uint8Array, E, R> =>
  Stream.flatMap(texts, (parts) =>
    parts.reduce((sum, { length }) => sum + length, 0) <= most
      ? Stream.succeed(Buffer.from(parts.join("")))
      : Stream.fromIterable(parts.flatMap(pieces)).pipe(
          Stream.rechunk(1),
          Stream.mapEffect((piece) => Effect.as(Effect.yieldNow, Buffer.from(piece)))
        )
  )

/** Slices of a text without copies. No surrogate pair is split. */
const pieces = (text: string): ReadonlyArray<string> => {
  const all: Array<string> = []
  for (let start = 0; start < text.length; ) {
    const isWithinPair = /[\ud800-\udbff]/.test(text.charAt(start + most - 1))
    const end = start + (isWithinPair ? most - 1 : most)
    all.push(text.slice(start, end))
    start = end
  }
  return all
}
