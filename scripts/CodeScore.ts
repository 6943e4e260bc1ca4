import { type Option, Schema } from "effect"
import * as Extraction from "../src/content/codes/Extraction.ts"
import { see } from "../src/content/html/SeenHtml.ts"
import type { Extracted } from "../src/model/Extracted.ts"

/** A mail, and its code and links according to a person. */
export const LabelledMail = Schema.Struct({
  id: Schema.String,
  source: Schema.optionalKey(Schema.String),
  lang: Schema.optionalKey(Schema.String),
  subject: Schema.NullOr(Schema.String),
  text: Schema.NullOr(Schema.String),
  html: Schema.NullOr(Schema.String),
  /** Its header names a mailing list. */
  list: Schema.optionalKey(Schema.Boolean),
  want: Schema.Struct({
    code: Schema.NullOr(Schema.String),
    link: Schema.optionalKey(Schema.NullOr(Schema.String)),
    linkKind: Schema.optionalKey(Schema.NullOr(Schema.String))
  })
})
export type LabelledMail = typeof LabelledMail.Type

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(LabelledMail))

/** Parses one mail in the form of `test/fixtures/codes.jsonl`. Returns undefined for other lines. */
export const parse = (line: string): Option.Option<LabelledMail> => decode(line)

export const find = ({ html, list, subject, text }: LabelledMail): Extracted =>
  Extraction.of({
    subject: subject ?? "",
    text,
    html: html === null ? [] : [see(html)],
    listUnsubscribe: undefined,
    listUnsubscribePost: undefined,
    isList: list ?? false
  })

/** Spaces and dashes inside a code do not count. */
const bare = (code: string): string => code.replace(/[\s\u2010-\u2015-]/g, "").toUpperCase()

export interface Score {
  mails: number
  /** Mails with a code. */
  codes: number
  high: number
  rightHigh: number
  low: number
  rightLow: number
  /** Mails with a link of a known purpose. */
  links: number
  foundLinks: number
  rightKinds: number
}

const nothing = (): Score => ({
  mails: 0,
  codes: 0,
  high: 0,
  rightHigh: 0,
  low: 0,
  rightLow: 0,
  links: 0,
  foundLinks: 0,
  rightKinds: 0
})

export interface Miss {
  readonly mail: LabelledMail
  readonly found: Extracted
}

/** The recall by source and in total. */
export const score = (
  mails: ReadonlyArray<LabelledMail>
): { readonly bySource: ReadonlyMap<string, Score>; readonly all: Score; readonly misses: ReadonlyArray<Miss> } => {
  const all = nothing()
  const bySource = new Map<string, Score>()
  const misses: Array<Miss> = []
  for (const mail of mails) {
    const name = mail.source ?? "-"
    const own = bySource.get(name) ?? nothing()
    bySource.set(name, own)
    const found = find(mail)
    const isRight = [count(all, mail, found), count(own, mail, found)].every((right) => right)
    if (!isRight) misses.push({ mail, found })
  }
  return { bySource, all, misses }
}

const count = (score: Score, { want }: LabelledMail, { code, links }: Extracted): boolean => {
  score.mails++
  let isRight = true
  const isCode = code !== null && want.code !== null && bare(code.value) === bare(want.code)
  if (want.code !== null) score.codes++
  if (code !== null) {
    score[code.confidence]++
    if (isCode) score[code.confidence === "high" ? "rightHigh" : "rightLow"]++
  }
  if (want.code === null ? code?.confidence === "high" : !isCode || code?.confidence !== "high") isRight = false
  if (typeof want.link === "string" && typeof want.linkKind === "string") {
    score.links++
    const link = links.find(({ url }) => url === want.link)
    if (link !== undefined) score.foundLinks++
    if (link?.kind === want.linkKind) score.rightKinds++
    else isRight = false
  }
  return isRight
}

const share = (part: number, whole: number): string => (whole === 0 ? "" : (part / whole).toFixed(3))

export const head =
  "| source | mails | codes | precision at `high` | recall at `high` | `low` | precision at `low` | links | told | kind of those told |\n|---|---|---|---|---|---|---|---|---|---|"

export const row = (name: string, score: Score): string =>
  `| ${[
    name,
    score.mails,
    score.codes,
    share(score.rightHigh, score.high),
    share(score.rightHigh, score.codes),
    score.low,
    share(score.rightLow, score.low),
    score.links,
    share(score.foundLinks, score.links),
    share(score.rightKinds, score.foundLinks)
  ].join(" | ")} |`
