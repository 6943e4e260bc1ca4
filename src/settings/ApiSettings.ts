import { Config, Duration, Schema } from "effect"
import { anywhere, production, required } from "./ProcessSettings.ts"
import * as Setting from "./Setting.ts"
import { BaseUrl, ByteLimit, Count, Limit, Port, spanFrom, wholeNumber } from "./SettingText.ts"

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

const metricsPort = setting(
  "METRICS_PORT",
  Port,
  undefined,
  "port of `/metrics`, `/health` and `/ready` in a process without the role `http`. Others have them at `HTTP_PORT`"
)

export const publicUrl = setting(
  "SERVICE_PUBLIC_URL",
  BaseUrl,
  required(
    "SERVICE_PUBLIC_URL",
    Config.map(httpPort, (port) => `http://localhost:${port}`)
  ),
  "public URL of the API",
  "`http://localhost:<HTTP_PORT>`; required in production"
)

export const trustProxy = setting(
  "TRUST_PROXY",
  wholeNumber("Expected the number of proxies in front, 0 for none", /^\d+$/, 100),
  0,
  "number of proxies in front of the API. The client is the address that many places from the right of `X-Forwarded-For`. `0` uses the connection's address"
)

const httpConnections = setting(
  "HTTP_MAX_CONNECTIONS",
  Limit,
  1_000,
  "API connections at a time, `0` for no limit. Raise it with the file limit of the process"
)

const httpConnectionsPerAddress = setting(
  "HTTP_MAX_CONNECTIONS_PER_IP",
  Limit,
  100,
  "concurrent API connections and requests of one client address (IPv6: /64), `0` for no limit. With `TRUST_PROXY` only requests count. Raise it if many clients share one address"
)

const httpReadTimeout = setting(
  "HTTP_READ_TIMEOUT",
  spanFrom("0ms", "1d"),
  Duration.seconds(30),
  "time after which Inlet closes a connection whose client does not read the answer, `0ms` for no limit. Raise it for clients on slow lines",
  "`30s`"
)

const answerBytes = setting(
  "HTTP_MAX_ANSWER_BYTES",
  ByteLimit,
  128 * 1024 * 1024,
  "total bytes of unsent API answers, `0` for no limit. Lower it on a machine with little memory"
)

const answerBytesPerClient = setting(
  "HTTP_MAX_ANSWER_BYTES_PER_WORKSPACE",
  ByteLimit,
  16 * 1024 * 1024,
  "bytes of unsent API answers of one workspace or demo inbox, or one client address without either, `0` for no limit. Raise it for a workspace with many streams"
)

const pageBytes = setting(
  "HTTP_PAGE_BYTES",
  Count,
  4 * 1024 * 1024,
  "maximum bytes of events on a page, unless a single event has more. Lower it for clients with little memory"
)

const requestsAtOnce = setting(
  "HTTP_MAX_REQUESTS_PER_WORKSPACE",
  Limit,
  32,
  "concurrent requests of one workspace or demo inbox, without waits and streams, `0` for no limit. Raise it for a few trusted workspaces"
)

const waitsAtOnce = setting(
  "HTTP_MAX_WAITS_PER_WORKSPACE",
  Limit,
  20,
  "concurrent waits and streams of one workspace, `0` for no limit. Raise it for agents that wait for many mails at once"
)

const requestsPerSecond = setting(
  "HTTP_REQUESTS_PER_SECOND",
  Limit,
  100,
  "requests of one workspace or demo inbox per second, `0` for no limit. Each 64 KiB of an answer count as one more. The burst is three times as many. Raise it for a few trusted workspaces"
)

export const http = Config.all({ host: httpHost, port: httpPort, metricsPort, publicUrl, production })

/** Concurrent use of the API per client. */
export const answers = Config.all({
  connections: httpConnections,
  connectionsPerAddress: httpConnectionsPerAddress,
  readTimeout: httpReadTimeout,
  answerBytes,
  answerBytesPerClient,
  pageBytes,
  requestsAtOnce,
  waitsAtOnce,
  requestsPerSecond
})
