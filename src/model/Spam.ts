import { Schema } from "effect"

/** What a scanner says about a message. `unknown` where it gave no usable answer in time. */
export const SpamVerdict = Schema.Literals(["clean", "spam", "virus", "unknown"])
export type SpamVerdict = typeof SpamVerdict.Type

/** Maximum number of symbols in an event, those with the largest absolute score. */
export const mostSymbols = 20

/** Maximum length of a symbol, and of the name of a virus. */
export const longestSymbol = 64
export const longestVirus = 200

/** A rule of the scanner that matched. */
export const SpamSymbol = Schema.Struct({
  name: Schema.String,
  score: Schema.Finite
}).annotate({ identifier: "SpamSymbol" })
export type SpamSymbol = typeof SpamSymbol.Type

/** The scan of a message, as it is in its events. */
export const Spam = Schema.Struct({
  verdict: SpamVerdict.annotate({
    description: "`unknown` if the scanner did not answer in time, or its answer was unusable"
  }),
  score: Schema.NullOr(Schema.Finite).annotate({ description: "the score, or null if unknown" }),
  required: Schema.NullOr(Schema.Finite).annotate({
    description: "the score at which the scanner would reject the mail, or null"
  }),
  symbols: Schema.Array(SpamSymbol).annotate({
    description: `the rules that matched, up to ${mostSymbols}, those with the largest absolute score first`
  }),
  virus: Schema.NullOr(Schema.String).annotate({ description: "the name of the virus, or null" })
}).annotate({ identifier: "Spam" })
export type Spam = typeof Spam.Type

/** The message was not scanned, because the scanner gave no usable answer. */
export const unscanned: Spam = { verdict: "unknown", score: null, required: null, symbols: [], virus: null }

/** What becomes of mail with a bad verdict: `tag` delivers it with its verdict, `hold` waits for a release. */
export const SpamAction = Schema.Literals(["tag", "hold"])
export type SpamAction = typeof SpamAction.Type
