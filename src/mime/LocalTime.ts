// Not effect/DateTime, because each parser thread would retain 3 MB of code for it.

/** A time without its zone, in milliseconds since 1970 as if it were UTC. */
export type LocalTime = number

const day = 86_400_000

const form = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z?))?$/

export interface Read {
  readonly time: LocalTime
  readonly isDay: boolean
  readonly isUtc: boolean
}

/** Reads `20260301`, `20260301T100000` or `20260301T100000Z` (RFC 5545, sections 3.3.4 and 3.3.5). */
export const read = (text: string): Read | undefined => {
  const [whole, year, month, date, hour = "0", minute = "0", second = "0", zulu] = form.exec(text.trim()) ?? []
  if (whole === undefined) return undefined
  const days = daysOf(Number(year), Number(month), Number(date))
  const [, sameMonth, sameDate] = dateOf(days)
  if (sameMonth !== Number(month) || sameDate !== Number(date)) return undefined
  // A leap second counts as the second after it.
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return undefined
  const seconds = Number(hour) * 3_600 + Number(minute) * 60 + Number(second)
  return { time: days * day + seconds * 1_000, isDay: zulu === undefined, isUtc: zulu === "Z" }
}

/** Days since 1970 of a date in the Gregorian calendar. March begins its year, so that leap days end one. */
export const daysOf = (year: number, month: number, date: number): number => {
  const fromMarch = month <= 2 ? year - 1 : year
  const era = Math.floor(fromMarch / 400)
  const yearOfEra = fromMarch - era * 400
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + date - 1
  return era * 146_097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - 719_468
}

/** The inverse: year, month and date. */
const dateOf = (days: number): readonly [year: number, month: number, date: number] => {
  const shifted = days + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1_460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const fromMarch = Math.floor((5 * dayOfYear + 2) / 153)
  const month = ((fromMarch + 2) % 12) + 1
  const date = dayOfYear - Math.floor((153 * fromMarch + 2) / 5) + 1
  return [yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, date]
}

const padded = (value: number, length = 2) => `${value}`.padStart(length, "0")

/** ISO 8601 without a zone. */
export const local = (time: LocalTime): string => {
  const days = Math.floor(time / day)
  const seconds = Math.floor((time - days * day) / 1_000)
  const [year, month, date] = dateOf(days)
  const clock = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60]
  return `${padded(year, 4)}-${padded(month)}-${padded(date)}T${clock.map((part) => padded(part)).join(":")}`
}

/** ISO 8601 in UTC. */
export const utc = (time: LocalTime): string => `${local(time)}Z`

export const monthAndDate = (time: LocalTime): readonly [month: number, date: number] => {
  const [, month, date] = dateOf(Math.floor(time / day))
  return [month, date]
}

export const yearOf = (time: LocalTime): number => dateOf(Math.floor(time / day))[0]

/** 0 is Sunday. The first day of 1970 was a Thursday. */
const weekdayOf = (days: number): number => (((days + 4) % 7) + 7) % 7

/** The `nth` weekday (0 is Sunday) of a month, counted from its end if negative. */
export const weekday = (year: number, month: number, nth: number, wanted: number): LocalTime => {
  if (nth > 0) {
    const first = daysOf(year, month, 1)
    return (first + ((wanted - weekdayOf(first) + 7) % 7) + 7 * (nth - 1)) * day
  }
  const last = (month === 12 ? daysOf(year + 1, 1, 1) : daysOf(year, month + 1, 1)) - 1
  return (last - ((weekdayOf(last) - wanted + 7) % 7) - 7 * (-nth - 1)) * day
}
