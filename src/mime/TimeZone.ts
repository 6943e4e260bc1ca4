import * as Result from "effect/Result"
import * as ContentLines from "./ContentLines.ts"
import * as LocalTime from "./LocalTime.ts"
import * as YearlyRule from "./YearlyRule.ts"

/** A period of a zone with one offset: standard or daylight time. */
interface Observance {
  /** The first onset, in the local time before it. */
  readonly start: LocalTime.LocalTime
  readonly offsetFrom: number
  readonly offsetTo: number
  readonly rule: YearlyRule.YearlyRule
  readonly dates: ReadonlyArray<LocalTime.LocalTime>
}

/**
 * The time in UTC of a local time in a zone: by the VTIMEZONE of the calendar (RFC 5545, section 3.6.5), or else by
 * its IANA name. Undefined for an unknown zone.
 */
export const toUtc = (
  calendar: ContentLines.Component,
  zone: string,
  time: LocalTime.LocalTime
): LocalTime.LocalTime | undefined => {
  const described = calendar.components.find(
    (component) => component.name === "VTIMEZONE" && ContentLines.first(component, "TZID")?.value === zone
  )
  const offset = (described === undefined ? undefined : offsetIn(described, time)) ?? offsetOfName(zone, time)
  return offset === undefined ? undefined : time - offset
}

const mostObservances = 50

const day = 86_400_000

const offsetIn = (zone: ContentLines.Component, time: LocalTime.LocalTime): number | undefined => {
  const all = zone.components.slice(0, mostObservances).flatMap(observance)
  // The first onset would count for ever.
  if (all.some(({ rule }) => !YearlyRule.isKnown(rule))) return undefined
  let latest: { readonly onset: number; readonly offset: number } | undefined
  for (const one of all) {
    const onset = lastOnset(one, time)
    if (onset !== undefined && (latest === undefined || onset > latest.onset)) latest = { onset, offset: one.offsetTo }
  }
  return latest?.offset ?? all.toSorted((one, other) => one.start - other.start)[0]?.offsetFrom
}

const observance = (component: ContentLines.Component): ReadonlyArray<Observance> => {
  const value = (name: string) => ContentLines.first(component, name)?.value ?? ""
  const start = LocalTime.read(value("DTSTART"))
  const offsetTo = offsetOf(value("TZOFFSETTO"))
  if (start === undefined || offsetTo === undefined) return []
  const dates = component.lines
    .filter(({ name }) => name === "RDATE")
    .flatMap((line) => line.value.split(",", 200).flatMap((text) => LocalTime.read(text)?.time ?? []))
  return [
    {
      start: start.time,
      offsetFrom: offsetOf(value("TZOFFSETFROM")) ?? offsetTo,
      offsetTo,
      rule: YearlyRule.read(value("RRULE")),
      dates
    }
  ]
}

/** Milliseconds of `+0100` or `-053000`. */
const offsetOf = (text: string): number | undefined => {
  const [, sign, hours, minutes, seconds] = /^([+-])(\d\d)(\d\d)(\d\d)?$/.exec(text.trim()) ?? []
  if (sign === undefined) return undefined
  const offset = (Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds ?? 0)) * 1_000
  return sign === "-" ? -offset : offset
}

/**
 * The last onset up to a time, by its first date, its dates and its yearly rule. A time that a forward change skips has
 * the offset before it (section 3.3.5).
 */
const lastOnset = (
  { dates, offsetFrom, offsetTo, rule, start }: Observance,
  time: LocalTime.LocalTime
): LocalTime.LocalTime | undefined => {
  const year = LocalTime.yearOf(time)
  const yearly = [year - 1, year].flatMap((one) => YearlyRule.onset(rule, start, one) ?? [])
  const skipped = Math.max(0, offsetTo - offsetFrom)
  const past = [start, ...dates, ...yearly].filter((onset) => onset + skipped <= time)
  return past.length === 0 ? undefined : Math.max(...past)
}

/** The offset of an IANA zone. A name that the sender chose is looked up only if it has the form of one. */
const offsetOfName = (zone: string, time: LocalTime.LocalTime): number | undefined => {
  if (!/^[A-Za-z]+(?:[/_+-][A-Za-z0-9]+){0,4}$/.test(zone) || zone.length > 40) return undefined
  const format = formatOf(zone)
  if (format === undefined) return undefined
  const at = (utc: number) => {
    const parts = new Map(format.formatToParts(utc).map(({ type, value }) => [type, Number(value)]))
    const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0
    const seconds = (part("hour") % 24) * 3_600 + part("minute") * 60 + part("second")
    return LocalTime.daysOf(part("year"), part("month"), part("day")) * day + seconds * 1_000 - utc
  }
  const [before, after] = [at(time - day), at(time + day)]
  // A time that occurs twice is the first one, and one that is skipped has the offset before it (RFC 5545, section 3.3.5).
  return before === after || at(time - before) === before || at(time - after) !== after ? before : after
}

/** Undefined for a name that the runtime does not know. */
const formatOf = (timeZone: string): Intl.DateTimeFormat | undefined => {
  const made = Result.try(
    () =>
      new Intl.DateTimeFormat("en-US", {
        timeZone,
        hourCycle: "h23",
        year: "numeric",
        month: "numeric",
        day: "numeric",
        hour: "numeric",
        minute: "numeric",
        second: "numeric"
      })
  )
  return Result.isSuccess(made) ? made.success : undefined
}
