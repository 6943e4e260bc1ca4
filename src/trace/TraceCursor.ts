import { DateTime, Option } from "effect"
import * as Uuid7 from "../model/Uuid7.ts"

/** The order of entries: newest first by time, then by id. */
export interface Place {
  readonly at: DateTime.Utc
  readonly id: string
}

const highest = "ffffffff-ffff-ffff-ffff-ffffffffffff"

/** Before all entries of this time and earlier. */
export const upTo = (at: DateTime.Utc): Place => ({ at, id: highest })

export const encode = ({ at, id }: Place): string => `${DateTime.toEpochMillis(at).toString(36)}-${id}`

export const decode = (cursor: string): Option.Option<Place> => {
  const [, time, id] = /^([\da-z]{1,9})-([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/.exec(cursor) ?? []
  if (time === undefined || id === undefined) return Option.none()
  return Option.map(DateTime.make(Number.parseInt(time, 36)), (at) => ({ at: DateTime.toUtc(at), id }))
}

/** Whether an entry comes after the cursor, so is older. */
export const isBehind = (cursor: Place, { at, id }: Place): boolean => {
  const difference = DateTime.toEpochMillis(at) - DateTime.toEpochMillis(cursor.at)
  return difference < 0 || (difference === 0 && id < cursor.id)
}

/** The bound of UUIDv7 of the entries' own times: those behind the place are lower. */
export const idBound = ({ at, id }: Place): string => {
  const millis = DateTime.toEpochMillis(at)
  const [first, next] = [Uuid7.lowestAt(millis), Uuid7.lowestAt(millis + 1)]
  return id < first ? first : id > next ? next : id
}

/** Newest first. */
export const newestFirst = (a: Place, b: Place): number => (isBehind(a, b) ? -1 : 1)
