import { Option, Schema } from "effect"
import * as HeaderText from "../../mime/HeaderText.ts"
import { longestSymbol, longestVirus, mostSymbols, type SpamSymbol } from "../../model/Spam.ts"
import type { Scan } from "./MailScanner.ts"

/** The part of rspamd's answer to `/checkv2` that Inlet uses. */
const Answer = Schema.Struct({
  action: Schema.String,
  score: Schema.Finite,
  required_score: Schema.optionalKey(Schema.NullOr(Schema.Finite)),
  symbols: Schema.Record(
    Schema.String,
    Schema.Struct({
      score: Schema.Finite,
      options: Schema.optionalKey(Schema.Array(Schema.String))
    })
  )
})

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Answer))

/** Nothing is rejected or put off after the `250`, so only actions that are about spam count. */
const spamActions: ReadonlySet<string> = new Set(["reject", "add header", "rewrite subject"])
const cleanActions: ReadonlySet<string> = new Set(["no action", "greylist", "soft reject"])

/** The symbols of rspamd's antivirus module: CLAM_VIRUS, SOPHOS_VIRUS and so on. The option is the virus. */
const isOfVirus = (name: string): boolean => /^[A-Z\d]+_VIRUS$/.test(name)

const short = (text: string, longest: number): string => HeaderText.oneLine(text.slice(0, longest))

/** The scan in an answer of rspamd, or undefined if it is not one. */
export const scanIn = (body: string): Scan | undefined => {
  const decoded = decode(body)
  if (Option.isNone(decoded)) return undefined
  const { action, required_score = null, score, symbols } = decoded.value
  if (!spamActions.has(action) && !cleanActions.has(action)) return undefined
  const matched = Object.entries(symbols)
  const virus = matched.find(([name]) => isOfVirus(name))
  return {
    verdict: virus !== undefined ? "virus" : spamActions.has(action) ? "spam" : "clean",
    score: rounded(score),
    required: required_score,
    symbols: matched
      .map(([name, { score }]): SpamSymbol => ({ name: short(name, longestSymbol), score: rounded(score) }))
      // By name among equals, so that the same message has the same event.
      .sort((one, other) => Math.abs(other.score) - Math.abs(one.score) || (one.name < other.name ? -1 : 1))
      .slice(0, mostSymbols),
    virus: virus === undefined ? null : short(virus[1].options?.[0] ?? virus[0], longestVirus)
  }
}

/** rspamd adds floating-point numbers up. */
const rounded = (score: number): number => Math.round(score * 100) / 100
