/** The words of a URL's path, without its query, its keys and its identifiers. */
export interface UrlPath {
  /** The whole path in lower case. */
  readonly path: string
  /** The last named segment, such as `verify-email` of `/login-actions/verify-email/aB3dE6gH9j`, or empty. */
  readonly last: string
}

const longestPath = 300
const empty: UrlPath = { path: "", last: "" }

/** Identifiers, keys and numbers: a segment with two digits, or with letters of both cases after the first. */
const isKey = (segment: string): boolean => /\d\D*\d/.test(segment) || (segment.length > 20 && !/[-_.]/.test(segment))
/** Segments that name no action. */
const isEmpty = (segment: string): boolean =>
  segment.length < 3 || /^(?:(?:index|default)\.\w+|key|token|code|link|done|complete|callback|uid\w*)$/i.test(segment)

/** Splits the path of a URL. `#/name?key=…`, which programs in a browser use as their path, counts as one. */
export const of = (url: string): UrlPath => {
  const from = url.indexOf("/", 8)
  if (from === -1) return empty
  const rest = url.slice(from, from + longestPath)
  const [before = "", fragment = ""] = rest.split(/#!?(?=\/)/, 2)
  const path = `${before.split(/[?#]/, 1)[0] ?? ""}${fragment.split("?", 1)[0] ?? ""}`
  const segments = path.split(/[/;]/)
  const last = segments.findLast((segment) => !isEmpty(segment) && !isKey(segment)) ?? ""
  return { path: path.toLowerCase(), last: last.toLowerCase() }
}
