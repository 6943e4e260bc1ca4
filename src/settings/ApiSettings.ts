import { Config, Duration, Schema } from "effect"
import { anywhere, production, required } from "./ProcessSettings.ts"
import * as Setting from "./Setting.ts"
import { Count, HttpUrl, Limit, Port, Span, wholeNumber } from "./SettingText.ts"

const { section, setting } = Setting.section("The API")

export { section }

const httpHost = setting(
  "HTTP_HOST",
  Schema.NonEmptyString,
  anywhere,
  "address of the API",
  "`127.0.0.1` (`0.0.0.0` in production)"
)

export const httpPort = setting("HTTP_PORT", Port, 3000, "port of the API")

export const publicUrl = setting(
  "SERVICE_PUBLIC_URL",
  HttpUrl,
  required(
    "SERVICE_PUBLIC_URL",
    "the URL of the API as its users see it, such as https://inlet.example.com",
    Config.map(httpPort, (port) => `http://localhost:${port}`)
  ),
  "public URL of the API",
  "`http://localhost:<HTTP_PORT>`; required in production"
)

export const trustProxy = setting(
  "TRUST_PROXY",
  wholeNumber("Expected the number of proxies in front, 0 for none", /^\d+$/, 100),
  0,
  "proxies in front of the API: the client is the address that many from the right of `X-Forwarded-For`; `0` takes the connection's"
)

const httpConnections = setting("HTTP_MAX_CONNECTIONS", Limit, 1_000, "API connections at a time; `0` for no limit")

const httpConnectionsPerAddress = setting(
  "HTTP_MAX_CONNECTIONS_PER_IP",
  Limit,
  100,
  "API connections, and requests under way, at a time from one client address (IPv6: /64); with `TRUST_PROXY` only the requests count; `0` for no limit"
)

const httpReadTimeout = setting(
  "HTTP_READ_TIMEOUT",
  Span,
  Duration.seconds(30),
  "how long a client of the API may read nothing of its answer before it is cut; `0ms` for no limit",
  "`30s`"
)

const answerBytes = setting(
  "HTTP_MAX_ANSWER_BYTES",
  Limit,
  128 * 1024 * 1024,
  "bytes of answers of the API that are on their way, in all; `0` for no limit"
)

const answerBytesPerClient = setting(
  "HTTP_MAX_ANSWER_BYTES_PER_WORKSPACE",
  Limit,
  16 * 1024 * 1024,
  "the same for one workspace or demo inbox, or one client address without either; `0` for no limit"
)

const pageBytes = setting(
  "HTTP_PAGE_BYTES",
  Count,
  4 * 1024 * 1024,
  "bytes of events on one page of a list, unless one event alone has more"
)

const requestsAtOnce = setting(
  "HTTP_MAX_REQUESTS_PER_WORKSPACE",
  Limit,
  32,
  "requests of one workspace or demo inbox under way at a time, waits and streams not counted; `0` for no limit"
)

const waitsAtOnce = setting(
  "HTTP_MAX_WAITS_PER_WORKSPACE",
  Limit,
  20,
  "waits and streams of one workspace at a time; `0` for no limit"
)

const requestsPerSecond = setting(
  "HTTP_REQUESTS_PER_SECOND",
  Limit,
  100,
  "requests of one workspace or demo inbox in a second, over time, of which each 64 KiB of an answer count as one more; `0` for no limit"
)

const requestBurst = setting(
  "HTTP_REQUEST_BURST",
  Count,
  300,
  "requests of one workspace or demo inbox that may come at once, after a while without any"
)

export const http = Config.all({ host: httpHost, port: httpPort, publicUrl, production })

/** What a client of the API may have at a time. */
export const answers = Config.all({
  connections: httpConnections,
  connectionsPerAddress: httpConnectionsPerAddress,
  readTimeout: httpReadTimeout,
  answerBytes,
  answerBytesPerClient,
  pageBytes,
  requestsAtOnce,
  waitsAtOnce,
  requestsPerSecond,
  requestBurst
})
