import { Option, Schema } from "effect"
import { Spam } from "../model/Spam.ts"
import type { ReadMail } from "./TracedMail.ts"
import { done, type TraceOutcome, type TraceStep, wrong } from "./TraceEntry.ts"

/** Symbols that a step names. */
const mostSymbols = 3

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Struct({ spam: Spam })))

/** `spam` is the last field of a payload. Text of the mail has its quotation marks escaped, so it cannot look like it. */
const start = ',"spam":{"verdict":'

const spamIn = (tail: string | null): Spam | undefined => {
  const at = tail?.lastIndexOf(start) ?? -1
  if (tail === null || at === -1) return undefined
  return Option.getOrUndefined(Option.map(decode(`{${tail.slice(at + 1)}`), ({ spam }) => spam))
}

/** `spam, score 15.1 of 15, GTUBE`. */
const words = ({ required, score, symbols, verdict, virus }: Spam): string =>
  [
    virus === null ? verdict : `${verdict} ${virus}`,
    ...(score === null ? [] : [`score ${score}${required === null ? "" : ` of ${required}`}`]),
    ...symbols.slice(0, mostSymbols).map(({ name }) => name)
  ].join(", ")

/** What the mail scanner said. None for mail that was not to be scanned. */
export const of = ({ readAt, tail }: ReadMail): ReadonlyArray<TraceStep> => {
  const spam = spamIn(tail)
  if (spam === undefined) return []
  return [
    spam.verdict === "unknown"
      ? wrong(
          "scan",
          readAt,
          "Scanner: unknown. It gave no usable answer in time, so the mail went on unscanned",
          "The operator sees why in the log and in inlet_scan_failures_total"
        )
      : done("scan", readAt, `Scanner: ${words(spam)}`)
  ]
}

/** The last step of a mail that the scanner's verdict holds. */
export const held = (
  { domain, domainId, eventId, tail }: ReadMail,
  reason: "spam" | "virus"
): { readonly outcome: TraceOutcome; readonly step: TraceStep } => {
  const spam = spamIn(tail)
  const what = reason === "virus" ? "has a virus" : "is spam"
  return {
    outcome: "held",
    step: wrong(
      "state",
      null,
      `Held, because the mail scanner says that it ${what}${spam === undefined ? "" : ` (${words(spam)})`}`,
      `POST /api/domains/${domainId}/events/${eventId}/release delivers it, if it should. PATCH /api/domains/${domainId} {"spam": "tag"} delivers such mail of ${domain} from now on`
    )
  }
}
