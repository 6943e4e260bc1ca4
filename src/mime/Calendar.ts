import type { CalendarTime, MailKind } from "../model/MailKind.ts"
import type { Attached } from "./Body.ts"
import * as ContentLines from "./ContentLines.ts"
import * as HeaderText from "./HeaderText.ts"
import * as LocalTime from "./LocalTime.ts"
import * as TimeZone from "./TimeZone.ts"

type CalendarKind = Extract<MailKind, { readonly type: "calendar" }>

/** Bytes of a part that are read. */
const mostBytes = 64 * 1024
const longest = 500

/**
 * Reads the first event of the calendar in a mail (RFC 5545, RFC 6047). Undefined without a calendar that has a method:
 * a file without one is no invitation.
 */
export const of = (attachments: ReadonlyArray<Attached>): CalendarKind | undefined => {
  const part = attachments.find(({ contentType }) => contentType === "text/calendar")
  if (part === undefined) return undefined
  const { components } = ContentLines.parse(part.content.subarray(0, mostBytes), part.charset)
  const calendar = components.find(({ name }) => name === "VCALENDAR")
  const method = calendar === undefined ? undefined : ContentLines.first(calendar, "METHOD")?.value.trim()
  if (calendar === undefined || method === undefined || !/^[\w-]{1,40}$/.test(method)) return undefined
  const event = calendar.components.find(({ name }) => name === "VEVENT")
  const value = (name: string) => (event === undefined ? undefined : ContentLines.first(event, name)?.value)
  const sequence = Number(value("SEQUENCE") ?? Number.NaN)
  const start = timeOf(calendar, event, "DTSTART")
  return {
    type: "calendar",
    method: method.toLowerCase(),
    uid: said(value("UID")),
    sequence: Number.isSafeInteger(sequence) ? sequence : null,
    summary: said(value("SUMMARY")),
    location: said(value("LOCATION")),
    start,
    end: timeOf(calendar, event, "DTEND") ?? after(calendar, event),
    recurrence: said(value("RRULE")),
    organizer: organizerOf(event),
    reply: method.toUpperCase() === "REPLY" ? replyOf(event) : null,
    attachment: part.index
  }
}

const said = (value: string | undefined): string | null =>
  value === undefined ? null : HeaderText.oneLine(ContentLines.textOf(value)).slice(0, longest).toWellFormed() || null

const timeOf = (
  calendar: ContentLines.Component,
  event: ContentLines.Component | undefined,
  name: string
): CalendarTime | null => {
  const line = event === undefined ? undefined : ContentLines.first(event, name)
  const read = line === undefined ? undefined : LocalTime.read(line.value)
  if (line === undefined || read === undefined) return null
  return shown(calendar, read, line.parameters.get("TZID") ?? null)
}

const shown = (calendar: ContentLines.Component, read: LocalTime.Read, zone: string | null): CalendarTime => {
  const { isDay, isUtc, time } = read
  if (isDay) return { local: LocalTime.local(time).slice(0, 10), zone: null, utc: null }
  const utc = isUtc ? time : zone === null ? undefined : TimeZone.toUtc(calendar, zone, time)
  return {
    local: LocalTime.local(time),
    zone: isUtc ? "UTC" : said(zone ?? undefined),
    utc: utc === undefined ? null : LocalTime.utc(utc)
  }
}

/** The end of an event that has a start and a duration such as `PT1H30M` (RFC 5545, section 3.3.6). */
const after = (calendar: ContentLines.Component, event: ContentLines.Component | undefined): CalendarTime | null => {
  const line = event === undefined ? undefined : ContentLines.first(event, "DTSTART")
  const read = line === undefined ? undefined : LocalTime.read(line.value)
  const duration = event === undefined ? undefined : ContentLines.first(event, "DURATION")?.value.trim()
  const form = /^\+?P(?:(\d{1,4})W)?(?:(\d{1,5})D)?(?:T(?:(\d{1,5})H)?(?:(\d{1,6})M)?(?:(\d{1,7})S)?)?$/
  const [whole, weeks, days, hours, minutes, seconds] = form.exec(duration ?? "") ?? []
  if (line === undefined || read === undefined || whole === undefined) return null
  const zone = line.parameters.get("TZID") ?? null
  const day = read.time + (Number(weeks ?? 0) * 7 + Number(days ?? 0)) * 86_400_000
  const exact = (Number(hours ?? 0) * 3_600 + Number(minutes ?? 0) * 60 + Number(seconds ?? 0)) * 1_000
  // Weeks and days are those of the zone. Hours are exact, also across a change of its clocks.
  const utc = (time: LocalTime.LocalTime) =>
    read.isUtc || zone === null ? time : (TimeZone.toUtc(calendar, zone, time) ?? time)
  const shift = exact === 0 ? 0 : utc(day) + exact - utc(day + exact)
  const end = { ...read, time: day + exact + (Math.abs(shift) > 86_400_000 ? 0 : shift) }
  return LocalTime.yearOf(end.time) > 9_999 ? null : shown(calendar, end, zone)
}

const organizerOf = (event: ContentLines.Component | undefined): CalendarKind["organizer"] => {
  const line = event === undefined ? undefined : ContentLines.first(event, "ORGANIZER")
  const address = /^mailto:([^\s?]+)/i.exec(line?.value.trim() ?? "")?.[1]
  return line === undefined || address === undefined
    ? null
    : { name: said(line.parameters.get("CN")), address: address.slice(0, longest).toWellFormed() }
}

/** What the attendee of a reply answers. */
const replyOf = (event: ContentLines.Component | undefined): string | null => {
  const line = event === undefined ? undefined : ContentLines.first(event, "ATTENDEE")
  return said(line?.parameters.get("PARTSTAT"))?.toLowerCase() ?? null
}
