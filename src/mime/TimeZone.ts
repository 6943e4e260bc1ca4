import * as Result from "effect/Result"
import * as ContentLines from "./ContentLines.ts"
import * as LocalTime from "./LocalTime.ts"

const days = ["SU", "MO", "TU", "WE", "TH", "FR", "SA"]

/** A period of a zone with one offset: standard or daylight time. */
interface Observance {
  /** The first onset, in the local time before it. */
  readonly start: LocalTime.LocalTime
  readonly offsetFrom: number
  readonly offsetTo: number
  readonly rule: ReadonlyMap<string, string>
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

const offsetIn = (zone: ContentLines.Component, time: LocalTime.LocalTime): number | undefined => {
  const all = zone.components.slice(0, mostObservances).flatMap(observance)
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
      rule: rule(value("RRULE")),
      dates
    }
  ]
}

const rule = (text: string): ReadonlyMap<string, string> =>
  new Map(
    text.split(";", 10).flatMap((part) => {
      const [key, value] = part.toUpperCase().split("=", 2)
      return key === undefined || value === undefined ? [] : [[key, value] as const]
    })
  )

/** Milliseconds of `+0100` or `-053000`. */
const offsetOf = (text: string): number | undefined => {
  const [, sign, hours, minutes, seconds] = /^([+-])(\d\d)(\d\d)(\d\d)?$/.exec(text.trim()) ?? []
  if (sign === undefined) return undefined
  const offset = (Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds ?? 0)) * 1_000
  return sign === "-" ? -offset : offset
}

/** The last onset up to a time, by its first date, its dates and its yearly rule. */
const lastOnset = ({ dates, rule, start }: Observance, time: LocalTime.LocalTime): LocalTime.LocalTime | undefined => {
  const onsets = [start, ...dates]
  const [, nth, day] = /^([+-]?\d)(SU|MO|TU|WE|TH|FR|SA)$/.exec(rule.get("BYDAY") ?? "") ?? []
  const month = Number(rule.get("BYMONTH"))
  if (rule.get("FREQ") === "YEARLY" && nth !== undefined && day !== undefined && month >= 1 && month <= 12) {
    const until = LocalTime.read(rule.get("UNTIL") ?? "")?.time ?? Number.POSITIVE_INFINITY
    const ofDay = start - Math.floor(start / 86_400_000) * 86_400_000
    const year = LocalTime.yearOf(time)
    for (const one of [year - 1, year]) {
      const onset = LocalTime.weekday(one, month, Number(nth), days.indexOf(day)) + ofDay
      // UNTIL is in UTC, and no zone is a day away from it.
      if (onset >= start && onset <= until + 86_400_000) onsets.push(onset)
    }
  }
  const past = onsets.filter((onset) => onset <= time)
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
    return LocalTime.daysOf(part("year"), part("month"), part("day")) * 86_400_000 + seconds * 1_000 - utc
  }
  return at(time - at(time))
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
