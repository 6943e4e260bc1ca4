import type { InboundEvent } from "../model/InboundEvent.ts"

/** The most that the event of a message of so many bytes weighs. */
export const most = (messageBytes: number): number => 3 * messageBytes + 1024 * 1024

/**
 * The event as JSON of at most so many bytes. Next to no event needs it: of one that does, the end of the
 * text goes first, then that of the HTML, then the last header fields, and `parse` says that not all is there.
 */
export const fitted = (event: InboundEvent, room: number): string => {
  const whole = JSON.stringify(event)
  // A unit of UTF-16 is three bytes of UTF-8 at most.
  if (whole.length * 3 <= room || Buffer.byteLength(whole) <= room) return whole
  const less: InboundEvent = { ...event, parse: event.parse === "full" ? "partial" : event.parse }
  const besides = bytesOf({ ...less, text: "", html: null, headers: [] })
  const inHeaders = (count: number) => bytesOf(less.headers.slice(0, count))
  const inHtml = (count: number) => (less.html === null ? 0 : bytesOf(start(less.html, count)))
  const inText = (count: number) => bytesOf(start(less.text, count))
  const headers = longest(less.headers.length, (count) => besides + inHeaders(count) <= room)
  const html = longest(less.html?.length ?? 0, (count) => besides + inHeaders(headers) + inHtml(count) <= room)
  const text = longest(less.text.length, (count) => besides + inHeaders(headers) + inHtml(html) + inText(count) <= room)
  return JSON.stringify({
    ...less,
    text: start(less.text, text),
    html: less.html === null ? null : start(less.html, html),
    headers: less.headers.slice(0, headers)
  })
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

/** The first units of a text, and no half of a character. */
const start = (text: string, count: number): string => text.slice(0, count).replace(/[\ud800-\udbff]$/, "")

/** The largest number up to `most` that fits, by halving. */
const longest = (most: number, fits: (count: number) => boolean): number => {
  let low = 0
  let high = most
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (fits(middle)) low = middle
    else high = middle - 1
  }
  return low
}
