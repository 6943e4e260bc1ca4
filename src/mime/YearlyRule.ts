import * as LocalTime from "./LocalTime.ts"

const day = 86_400_000

const weekdays = ["SU", "MO", "TU", "WE", "TH", "FR", "SA"]

/** The parts of a recurrence rule, by name. Empty without a rule. */
export type YearlyRule = ReadonlyMap<string, string>

/** Reads the RRULE of an observance of a time zone (RFC 5545, section 3.3.10). */
export const read = (text: string): YearlyRule =>
  new Map(
    text.split(";", 10).flatMap((part) => {
      const [key, value] = part.toUpperCase().split("=", 2)
      return key === undefined || value === undefined ? [] : [[key.trim(), value.trim()] as const]
    })
  )

const known: ReadonlySet<string> = new Set([
  "FREQ",
  "INTERVAL",
  "UNTIL",
  "WKST",
  "BYMONTH",
  "BYMONTHDAY",
  "BYDAY",
  "BYSETPOS"
])

/** Whether `onset` knows all parts of the rule: once a year, on a date or on a weekday of one month. */
export const isKnown = (rule: YearlyRule): boolean => {
  if (rule.size === 0) return true
  const form = (name: string, form: RegExp) => form.test(rule.get(name) ?? "")
  return (
    [...rule.keys()].every((name) => known.has(name)) &&
    form("FREQ", /^YEARLY$/) &&
    form("INTERVAL", /^(?:1|)$/) &&
    form("BYMONTH", /^(?:0?[1-9]|1[0-2]|)$/) &&
    form("BYMONTHDAY", rule.has("BYDAY") ? /^(?:\d{1,2}(?:,\d{1,2}){0,30}|)$/ : /^(?:\d{1,2}|)$/) &&
    form("BYDAY", /^(?:[+-]?[1-5]?(?:SU|MO|TU|WE|TH|FR|SA)|)$/) &&
    form("BYSETPOS", rule.has("BYDAY") ? /^(?:[+-]?[1-5]|)$/ : /^$/)
  )
}

/** The onset of a year in the local time before it. Undefined before the first one, or after the last one. */
export const onset = (rule: YearlyRule, start: LocalTime.LocalTime, year: number): LocalTime.LocalTime | undefined => {
  if (rule.get("FREQ") !== "YEARLY") return undefined
  const date = dateOf(rule, start, year)
  if (date === undefined) return undefined
  const time = date + (start - Math.floor(start / day) * day)
  const until = LocalTime.read(rule.get("UNTIL") ?? "")?.time ?? Number.POSITIVE_INFINITY
  // UNTIL is in UTC, and no zone is a day away from it.
  return time >= start && time <= until + day ? time : undefined
}

const dateOf = (rule: YearlyRule, start: LocalTime.LocalTime, year: number): LocalTime.LocalTime | undefined => {
  const [ofStart, dateOfStart] = LocalTime.monthAndDate(start)
  const month = Number(rule.get("BYMONTH") ?? ofStart)
  const dates = rule.get("BYMONTHDAY")?.split(",").map(Number)
  const [, nth, name] = /^([+-]?\d)?(\w\w)$/.exec(rule.get("BYDAY") ?? "") ?? []
  if (name === undefined) {
    const date = LocalTime.daysOf(year, month, dates?.[0] ?? dateOfStart) * day
    // 30 February is none.
    return LocalTime.monthAndDate(date)[0] === month ? date : undefined
  }
  const weekday = weekdays.indexOf(name)
  if (dates === undefined) return LocalTime.weekday(year, month, Number(nth ?? rule.get("BYSETPOS") ?? 1), weekday)
  const fitting = [1, 2, 3, 4, 5]
    .map((count) => LocalTime.weekday(year, month, count, weekday))
    .filter((one) => LocalTime.monthAndDate(one)[0] === month && dates.includes(LocalTime.monthAndDate(one)[1]))
  const position = Number(rule.get("BYSETPOS") ?? 1)
  return fitting.at(position > 0 ? position - 1 : position)
}
