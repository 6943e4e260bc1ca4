/**
 * How paths are matched: as written (RFC 3986, section 6.2.2.1), so that a rule of a proxy about a path is about that
 * route alone. People add a slash at the end.
 */
export const matching = { caseSensitive: true, ignoreDuplicateSlashes: false, ignoreTrailingSlash: true }

/** The path of a request without query and final slash. */
export const of = (url: string): string => {
  const path = url.replace(/[?#].*$/s, "")
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path
}

const ids = /\/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}(?=\/|$)/gi

/**
 * Lower-cases the ids in the path of a URL, because ids are compared as text. Some languages write UUIDs in capitals
 * (RFC 9562, section 4).
 */
export const withSmallIds = (url: string): string => {
  const [path = ""] = /^[^?#]*/.exec(url) ?? []
  return /[A-F]/.test(path) ? path.replace(ids, (id) => id.toLowerCase()) + url.slice(path.length) : url
}

/** Whether a path escapes characters that need no escape (RFC 3986, section 6.2.2.2). A proxy may not see through it. */
export const isDisguised = (path: string): boolean => /%(?:2[de]|3\d|4[1-9a-f]|5[\daf]|6[1-9a-f]|7[\dae])/i.test(path)
