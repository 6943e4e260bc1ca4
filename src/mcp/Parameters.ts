import { Schema } from "effect"
import { canonical } from "../domains/DomainNames.ts"
import { millisOf } from "../http/events/EventFilters.ts"

/** Text of one line, short enough to be a parameter. */
const text = (most: number, description: string) =>
  Schema.String.annotate({ description }).check(
    Schema.isMinLength(1, { message: `Expected 1 to ${most} characters` }),
    Schema.isMaxLength(most, { message: `Expected 1 to ${most} characters` }),
    Schema.makeFilter((value: string) => !/\p{Cc}/u.test(value), {
      message: "Expected text without control characters"
    })
  )

const whole = (minimum: number, maximum: number, description: string) => {
  const message = `Expected a whole number from ${minimum} to ${maximum}`
  return Schema.Int.annotate({ description, message }).check(Schema.isBetween({ minimum, maximum }, { message }))
}

export const to = Schema.optionalKey(text(320, "your address, or domain"))

export const from = Schema.optionalKey(text(320, "sender's address; can be forged"))

export const subject = Schema.optionalKey(text(200, "words in it"))

export const has = Schema.optionalKey(
  Schema.Literals(["code", "link", "attachment"]).annotate({ message: "Expected one of code, link, attachment" })
)

export const fromDomain = Schema.optionalKey(
  text(253, "sender's domain, proven by DMARC").check(
    Schema.makeFilter((name: string) => canonical(name)?.includes(".") === true, {
      message: "Expected a domain name such as github.com"
    })
  )
)

export const newerThan = Schema.optionalKey(
  text(8, "mail that is no older, as 90s, 5m, 2h; default 5m").check(
    Schema.makeFilter((age: string) => millisOf(age) !== undefined, {
      message: "Expected a time such as 90s, 5m, 2h or 7d, at most 14d"
    })
  )
)

/** Below one minute, when many clients time out. */
export const seconds = Schema.optionalKey(whole(0, 55, "to wait; default 45"))
export const usualSeconds = 45

/** Codes expire soon, and a mail may arrive before the wait. */
export const usualAge = "5m"

export const after = Schema.optionalKey(text(64, "cursor or event_id"))

export const cursor = Schema.optionalKey(text(64, "of the page before"))

export const trace = Schema.optionalKey(Schema.Boolean)

export const limit = Schema.optionalKey(whole(1, 25, "default 10"))

export const eventId = Schema.String.annotate({ description: "of a mail" }).check(
  Schema.isUUID(undefined, { message: "Expected the event_id of a mail from list_mail" })
)

export const maxChars = Schema.optionalKey(whole(1, 8_000, "default 6000"))

export const offset = Schema.optionalKey(whole(0, 100_000_000, "next_offset of the piece before"))

/** Of a simulated mail. */
export const author = Schema.optionalKey(text(320, "sender"))

export const heading = Schema.optionalKey(text(998, ""))
