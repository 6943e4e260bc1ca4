/** Names of URL parameters that carry a secret. */
const names =
  /^(?:[\w.-]{0,40}(?:token|secret|hash|signature|sig|otp|oobcode|ticket|nonce)|code|key|t|k|tk|upn|jwt|confirmation|activation|verification|invite|invitation|c|data|q)$/i

/** Segments of a path before a short key: /invite/x7k2p9qm4t. */
const before =
  /invit|join|accept|verif|confirm|activat|validat|reset|recover|ticket|token|magic|log-?_?in|sign-?_?(?:in|up)|register|opt-?_?in/i

/** A code to type as a parameter: code=QXWRTK. */
const typed = /^[A-Z0-9]{5,10}$/
const typedNames = /^(?:code|otp|pin|token)$/i

const leastValue = 8
/** Digits of a key without letters. */
const leastDigits = 12
const leastRandom = 16
/** Maximum parts of a URL, and characters of a part. */
const mostParts = 40
const longestPart = 128

/** Checks whether a URL contains an unguessable part. */
export const isIn = (url: string): boolean => {
  const from = url.indexOf("/", 8)
  if (from === -1) return false
  let name = ""
  let isPath = true
  let isAnnounced = false
  for (const part of url.slice(from + 1).split(/([/?&=#.:,;+]|%[0-9a-f]{2})/i, mostParts * 2)) {
    if (part.length === 1 && part !== "=" && /\W/.test(part)) name = ""
    if (part === "?") isPath = false
    if (part.length < 2) {
      if (name === "" && part.length === 1 && /\w/.test(part)) name = part
      continue
    }
    if (name !== "" && part.length >= leastValue && names.test(name)) return true
    if (typed.test(part) && typedNames.test(name)) return true
    if (isRandom(part) || (isPath && isAnnounced && isShortKey(part))) return true
    isAnnounced ||= before.test(part)
    name = part
  }
  return false
}

const leastNamed = 4
const leastMixed = 6

/** Whether a URL has a short key (`/v/Xy7Kp2Qa`), or a number behind a name (`/verify?id=12345`). They may be guessed. */
export const hasShortKey = (url: string): boolean => {
  let isAnnounced = false
  const from = url.indexOf("/", 8)
  if (from === -1) return false
  for (const part of url.slice(from + 1).split(/[/?&=#]/, mostParts)) {
    if (/^\w+$/.test(part) && (isMixed(part) || (isAnnounced && isNumbered(part)))) return true
    isAnnounced ||= before.test(part)
  }
  return false
}

const isMixed = (part: string): boolean => part.length >= leastMixed && /\d/.test(part) && mixtureOf(part).changes >= 3

/** A part with two digits that is no year. */
const isNumbered = (part: string): boolean =>
  part.length >= leastNamed && /\d\D*\d/.test(part) && !/^(?:19|20)\d\d$/.test(part)

interface Mixture {
  readonly digits: number
  readonly capitals: number
  /** The number of places where the kind of character changes. */
  readonly changes: number
}

const mixtureOf = (part: string): Mixture => {
  let changes = 0
  let digits = 0
  let capitals = 0
  let before = 0
  for (let at = 0; at < part.length && at < longestPart; at++) {
    const unit = part.charCodeAt(at)
    if (unit === 0x2d || unit === 0x5f) continue
    const kind = unit >= 0x30 && unit <= 0x39 ? 1 : unit >= 0x41 && unit <= 0x5a ? 2 : 3
    if (kind === 1) digits++
    if (kind === 2) capitals++
    if (before !== 0 && kind !== before) changes++
    before = kind
  }
  return { digits, capitals, changes }
}

/** Long, with mixed letters and digits, or with both letter cases. */
const isRandom = (part: string): boolean => {
  if (part.length < leastRandom) return false
  const { capitals, changes, digits } = mixtureOf(part)
  return (digits >= 3 && changes >= 4) || (capitals >= 4 && changes >= 6) || digits >= 24
}

/** Letters and digits in turn, as in no word, or a long number. */
const isShortKey = (part: string): boolean => {
  if (part.length < leastValue || !/^[A-Za-z0-9]+$/.test(part)) return false
  const { capitals, changes, digits } = mixtureOf(part)
  return (digits >= 2 && changes >= 3) || (capitals >= 2 && changes >= 4) || digits >= leastDigits
}
