import { Schema } from "effect"
import { canonical } from "../domains/DomainNames.ts"

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

export const to = Schema.optionalKey(text(320, "your address or domain; needed if you have several domains"))

export const from = Schema.optionalKey(text(320, "sender's address; can be forged"))

export const subject = Schema.optionalKey(text(200, "words of the subject"))

export const has = Schema.optionalKey(
  Schema.Literals(["code", "link", "attachment"]).annotate({ message: "Expected one of code, link, attachment" })
)

export const fromDomain = Schema.optionalKey(
  text(253, "sender's domain, confirmed by DMARC").check(
    Schema.makeFilter((name: string) => canonical(name)?.includes(".") === true, {
      message: "Expected a domain name such as github.com"
    })
  )
)

/** Below one minute, when many clients time out. */
export const seconds = Schema.optionalKey(whole(0, 55, "to wait; default 45"))
export const usualSeconds = 45

/** Mail may arrive before the wait. */
export const usualAge = "5m"

export const after = Schema.optionalKey(text(64, "cursor or event_id"))

export const cursor = Schema.optionalKey(text(128, "next_cursor of the previous page"))

/** Whether held mail is included. */
export const held = Schema.optionalKey(
  Schema.Boolean.annotate({ description: "include mail held by a sender rule, the scanner or the loop guard" })
)

export const trace = Schema.optionalKey(Schema.Boolean)

export const limit = Schema.optionalKey(whole(1, 25, "default 10"))

export const eventId = Schema.String.annotate({ description: "of a mail" }).check(
  Schema.isUUID(undefined, { message: "Expected the event_id of a mail from list_mail" })
)

export const maxChars = Schema.optionalKey(whole(1, 8_000, "default 6000"))

export const offset = Schema.optionalKey(whole(0, 100_000_000, "next_offset of the previous piece"))

/** Of a simulated mail. */
export const author = Schema.optionalKey(text(320, "sender"))

export const heading = Schema.optionalKey(text(998, ""))
