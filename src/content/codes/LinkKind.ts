import * as UrlPath from "./UrlPath.ts"
import type { Hit } from "./WordSearch.ts"
import type { Category } from "./Words.ts"

/** The kind of a link. */
export type LinkKind = "verify" | "login" | "reset" | "invite" | "other"

/** Scores of each kind, of footer links, and of links that refuse. */
export interface Votes {
  reset: number
  invite: number
  login: number
  verify: number
  /** A password is mentioned, but not as lost. */
  password: number
  foot: number
  /** It declines, cancels or deletes. */
  refuse: number
}

export const none = (): Votes => ({ reset: 0, invite: 0, login: 0, verify: 0, password: 0, foot: 0, refuse: 0 })

/** The order decides a tie. Resets and invitations also ask to sign in, so they come first. */
const kinds = ["reset", "invite", "login", "verify"] as const

const kindOf: Partial<Record<Category, keyof Votes>> = {
  reset: "reset",
  password: "password",
  invite: "invite",
  login: "login",
  verify: "verify",
  foot: "foot",
  refuse: "refuse"
}

/** Adds the votes of a text, each category once. Returns whether it names a purpose. */
export const hear = (votes: Votes, hits: ReadonlyArray<Hit>, weight: number): boolean => {
  let isSaid = false
  for (const [index, { category }] of hits.entries()) {
    const kind = kindOf[category]
    if (kind === undefined || hits.findIndex((other) => other.category === category) < index) continue
    votes[kind] += weight
    isSaid ||= kind !== "foot" && kind !== "refuse"
  }
  return isSaid
}

/** Names that programs use in paths, in English for every language. */
const names: ReadonlyArray<readonly [RegExp, keyof Votes]> = [
  [/reset|recover|password|passwd|forgot/, "reset"],
  [/invit|^join/, "invite"],
  [/log-?_?in|sign-?_?in|magic|(?:^|[-_])otp|session/, "login"],
  [/verif|confirm|activat|validat|register|sign-?_?up|opt-?_?in/, "verify"]
]
/** What the mail says counts more than the path. */
export const pathWeight = 1.5
const footWeight = 3
/** The start of a word in any folder: `/account/delete/confirm` deletes. */
const refusePath = /[/\-_.;](?:decline|deny|reject|refuse|cancel|delet[ei]|revert|revoke|remove|disavow|not-?_?me\b)/
const footPath = /unsub|preferences|privacy|\/terms|\/legal|opt-?out|view-?in-?browser/

/**
 * Adds the vote of the last named segment of the path. Folders and the query do not vote: `/login-actions/` serves
 * every action, and `passwordset=false` is a setting. A page without a secret resets nothing.
 */
export const hearUrl = (votes: Votes, url: string, hasSecret: boolean): void => {
  const { last, path } = UrlPath.of(url)
  const named = names.find(([pattern]) => pattern.test(last))
  if (named !== undefined && (hasSecret || named[1] !== "reset")) votes[named[1]] += pathWeight
  if (footPath.test(path)) votes.foot += footWeight
  if (refusePath.test(path)) votes.refuse += pathWeight
}

/** Adds what the mail says around a link. A link without a secret resets nothing. */
export const add = (votes: Votes, others: Votes, hasSecret: boolean): void => {
  for (const kind of kinds) if (hasSecret || kind !== "reset") votes[kind] += others[kind]
  if (hasSecret) votes.password += others.password
}

export const isAny = (votes: Votes): boolean => votes.password > 0 || kinds.some((kind) => votes[kind] > 0)

interface Most {
  readonly kind: LinkKind
  readonly votes: number
}

/** The kind of a link that declines, cancels or deletes, whatever else its label says. */
export const refusal: Most = { kind: "other", votes: 0 }

/** The kind with the most votes. */
export const most = (votes: Votes): Most => {
  let kind: LinkKind = "other"
  let best = 0
  for (const each of kinds) {
    // Many languages use the words of a reset for any change. An invitation may also ask for a password.
    const own = each === "reset" && votes.password === 0 ? votes.reset / 2 : votes[each]
    const isForPassword = each === (votes.invite > votes.reset ? "invite" : "reset")
    const count = own + (isForPassword ? votes.password * 0.75 : 0)
    if (count > best) {
      best = count
      kind = each
    }
  }
  return { kind, votes: best }
}
