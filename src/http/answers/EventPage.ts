import { Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import type { SqlError } from "effect/sql/SqlError"
import type { ListedEvent, Loaded } from "../../events/EventQuery.ts"
import type { Unauthorized } from "../../model/ApiError.ts"
import type { Page } from "../../model/Page.ts"
import type { AnswerRoom } from "./AnswerRoom.ts"
import * as CurrentAnswer from "./CurrentAnswer.ts"
import * as TextPieces from "./TextPieces.ts"

/** A page of events as an answer. A short one is a single text. A long one is written in chunks as it is loaded. */
export const toResponse = Effect.fnUntraced(function* <E extends ListedEvent>(
  page: Page<E> & { readonly cursorNow?: string },
  options: {
    readonly room: AnswerRoom["Service"]
    readonly payloads: (events: ReadonlyArray<E>) => Stream.Stream<Loaded<E>, SqlError>
    /** In parts, because payloads are long JSON texts that are passed on unchanged. */
    readonly encode: (event: Loaded<E>) => ReadonlyArray<string>
    readonly headers?: Readonly<Record<string, string>>
    /** Fails when the key is revoked, which ends a long answer. */
    readonly untilReplaced?: Effect.Effect<never, Unauthorized>
  }
) {
  const { encode, headers = {}, payloads, room, untilReplaced = Effect.never } = options
  const { cursorNow, items, nextCursor } = page
  const contentType = "application/json"
  yield* room.reserve(items.reduce((sum, { bytes }) => sum + bytes, 0))

  const start = `{"events":[`
  const now = cursorNow === undefined ? "" : `,"cursor_now":${JSON.stringify(cursorNow)}`
  const end = `],"next_cursor":${JSON.stringify(nextCursor)}${now}}`
  const loaded = items.flatMap((event) => (isLoaded(event) ? [event] : []))
  if (loaded.length === items.length) {
    return HttpServerResponse.text(`${start}${loaded.map((event) => encode(event).join("")).join(",")}${end}`, {
      contentType,
      headers
    })
  }
  const texts = Stream.map(Stream.zipWithIndex(payloads(items)), ([event, index]) =>
    index === 0 ? encode(event) : [",", ...encode(event)]
  )
  // The status is sent, so a database failure cuts the answer off.
  const whole = Stream.make([start]).pipe(Stream.concat(Stream.orDie(texts)), Stream.concat(Stream.make([end])))
  const body = Stream.interruptWhen(TextPieces.encoded(whole), untilReplaced)
  return HttpServerResponse.stream(yield* CurrentAnswer.kept(body), { contentType, headers })
})

const isLoaded = <E extends ListedEvent>(event: E): event is Loaded<E> => event.payload !== null
