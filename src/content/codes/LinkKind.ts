import type { Hit } from "./WordSearch.ts"
import type { Category } from "./Words.ts"

/** The kind of a link. */
export type LinkKind = "verify" | "login" | "reset" | "invite" | "other"

/** Scores of each kind, and of footer links. */
export interface Votes {
  reset: number
  invite: number
  login: number
  verify: number
  /** A password is mentioned, but not as lost. */
  password: number
  foot: number
}

export const none = (): Votes => ({ reset: 0, invite: 0, login: 0, verify: 0, password: 0, foot: 0 })

/** The order decides a tie. Resets and invitations also ask to sign in, so they come first. */
const kinds = ["reset", "invite", "login", "verify"] as const

const kindOf: Partial<Record<Category, keyof Votes>> = {
  reset: "reset",
  password: "password",
  invite: "invite",
  login: "login",
  verify: "verify",
  foot: "foot"
}

/** Adds the votes of a text, each category once. */
export const hear = (votes: Votes, hits: ReadonlyArray<Hit>, weight: number): void => {
  for (const [index, { category }] of hits.entries()) {
    const kind = kindOf[category]
    if (kind === undefined || hits.findIndex((other) => other.category === category) < index) continue
    votes[kind] += weight
  }
}

/** Path names that programs use in URLs, in English for every language. */
const paths: ReadonlyArray<readonly [RegExp, keyof Votes]> = [
  [/reset|recover|password|passwd|forgot/, "reset"],
  [/invit|\/join/, "invite"],
  [/log-?_?in|sign-?_?in|magic|\/auth\/email|otp|session/, "login"],
  [/verif|confirm|activat|validat|register|sign-?_?up/, "verify"],
  [/unsub|preferences|privacy|\/terms|\/legal|opt-?out|\/help|\/support|view-?in-?browser/, "foot"]
]
const longestPath = 300

export const hearUrl = (votes: Votes, url: string, weight: number): void => {
  const from = url.indexOf("/", 8)
  if (from === -1) return
  const path = url.slice(from, from + longestPath).toLowerCase()
  for (const [pattern, kind] of paths) if (pattern.test(path)) votes[kind] += weight
}

export const add = (votes: Votes, others: Votes): void => {
  for (const kind of kinds) votes[kind] += others[kind]
  votes.password += others.password
}

export const isAny = (votes: Votes): boolean => votes.password > 0 || kinds.some((kind) => votes[kind] > 0)

/** The kind with the most votes. */
export const most = (votes: Votes): { readonly kind: LinkKind; readonly votes: number } => {
  let kind: LinkKind = "other"
  let best = 0
  for (const each of kinds) {
    // An invitation may also ask for a password.
    const isForPassword = each === (votes.invite > votes.reset ? "invite" : "reset")
    const count = votes[each] + (isForPassword ? votes.password * 0.75 : 0)
    if (count > best) {
      best = count
      kind = each
    }
  }
  return { kind, votes: best }
}
