import type { Answers } from "./Contract.ts"
import { inConsole } from "./InConsole.ts"

/** A route of the API, such as `GET /api/domains/{id}`. */
export type Route = keyof Answers

/** The service refused a request, or did not answer. `message` tells a person what to do. */
export class ApiError extends Error {
  /** 0 without an answer. */
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export interface Options {
  /** The values of the path's `{…}`, in order. */
  readonly path?: ReadonlyArray<string>
  /** Empty values are left out. */
  readonly query?: Readonly<Record<string, string | number | null | undefined>>
  readonly body?: unknown
  readonly signal?: AbortSignal
  /** In place of the workspace that the page shows. */
  readonly workspaceId?: string | undefined
}

/** The workspace that the page shows. Undefined before the page knows one. */
let shown: string | undefined

/** Sets the workspace of each request, so that the service refuses it if another tab has switched the workspace. */
export const showsWorkspace = (id: string | undefined) => {
  shown = id
}

/** Called with each 401, when the session has ended. */
let onUnauthorized = () => {}

export const whenUnauthorized = (listener: () => void) => {
  onUnauthorized = listener
}

/** The URL of a path with its values and query. */
export const urlOf = (path: string, { path: values = [], query = {} }: Options = {}): string => {
  const left = [...values]
  const filled = path.replace(/\{\w+\}/g, () => encodeURIComponent(left.shift() ?? ""))
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) =>
      value === undefined || value === null || value === "" ? [] : [[name, `${value}`]]
    )
  )
  return search.size === 0 ? filled : `${filled}?${search}`
}

/** Calls the API with the console's cookie. Throws an ApiError for every status but 2xx. */
export const call = async <R extends Route>(route: R, options: Options = {}): Promise<Answers[R]> => {
  const [method = "GET", path = "/"] = route.split(" ")
  const response = await fetch(urlOf(path, options), {
    method,
    headers: {
      "x-inlet-console": options.workspaceId ?? shown ?? "1",
      ...(options.body === undefined ? {} : { "content-type": "application/json" })
    },
    ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
    ...(options.signal === undefined ? {} : { signal: options.signal })
  }).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === "AbortError") throw error
    throw new ApiError(0, "The service does not answer. Check your connection, then retry")
  })
  const text = await response.text()
  const body = parsed(text)
  if (response.ok) return body as Answers[R] // The contract is generated from the routes.
  const error =
    typeof body === "object" && body !== null && "error" in body && typeof body.error === "string"
      ? body.error
      : `The service answered ${response.status}. Retry in a moment`
  // An ended session of the operator makes the operator's routes unknown.
  const isUnknown = response.status === 404 && path.startsWith("/admin/") && error.startsWith("No such route")
  if ((response.status === 401 || isUnknown) && path !== "/api/console/session") onUnauthorized()
  throw new ApiError(response.status, inConsole(error))
}

const parsed = (text: string): unknown => {
  if (text === "") return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The message of whatever was thrown. */
export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : "Something failed. Reload the page"

/** True for a request that the page itself cancelled. */
export const isAborted = (error: unknown): boolean => error instanceof DOMException && error.name === "AbortError"
