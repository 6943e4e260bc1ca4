/** The unsubscribe address of a mailing list (RFC 2369, RFC 8058). */
export interface Unsubscribe {
  readonly url: string | null
  readonly mailto: string | null
  /** One POST of `List-Unsubscribe=One-Click` to the URL is enough. */
  readonly oneClick: boolean
}

/** Maximum addresses in the field, and characters of one. */
const mostAddresses = 10
const longestField = 16_384
const longestAddress = 2_048

const bracketed = /<([^<>]*)>/g

/** Parses List-Unsubscribe and List-Unsubscribe-Post: the first URL and the first mail address in angle brackets. */
export const read = (list: string | undefined, post: string | undefined): Unsubscribe | null => {
  if (list === undefined) return null
  let url: string | null = null
  let mailto: string | null = null
  let looked = 0
  for (const [, inside = ""] of list.slice(0, longestField).matchAll(bracketed)) {
    if (++looked > mostAddresses) break
    const address = inside.replace(/\s+/g, "")
    if (address.length > longestAddress || URL.parse(address) === null) continue
    if (/^https?:\/\/./i.test(address)) url ??= address
    else if (/^mailto:./i.test(address)) mailto ??= address
  }
  if (url === null && mailto === null) return null
  const oneClick = /^https:/i.test(url ?? "") && /^\s*List-Unsubscribe\s*=\s*One-Click\s*$/i.test(post ?? "")
  return { url, mailto, oneClick }
}
