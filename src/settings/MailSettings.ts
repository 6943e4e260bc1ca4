import { Config, Duration, Schema } from "effect"
import { parse } from "tldts"
import { anywhere, inProduction, production, required } from "./ProcessSettings.ts"
import * as Setting from "./Setting.ts"
import {
  AddressRange,
  ByteLimit,
  Count,
  commaSeparated,
  Flag,
  HostName,
  httpUrl,
  Limit,
  NameServer,
  Port,
  Secret,
  spanFrom,
  wholeNumber
} from "./SettingText.ts"

const { section, setting } = Setting.section("The mail server")

export { section }

const smtpHost = setting(
  "SMTP_HOST",
  Schema.NonEmptyString,
  anywhere,
  "address of the mail server",
  "`127.0.0.1` (`0.0.0.0` in production)"
)

/** The default mail server of `inlet send`. */
export const defaultSmtpPort = 2525

export const smtpPort = setting(
  "SMTP_PORT",
  Port,
  inProduction(Config.succeed(25), Config.succeed(defaultSmtpPort)),
  "port of the mail server",
  "`2525` (`25` in production)"
)

/** Everything under it would be refused to customers. */
const OwnDomain = HostName.check(
  Schema.makeFilter((name) => {
    const { domain, isIcann } = parse(name, { allowPrivateDomains: false })
    return isIcann === true && domain === null ? "Expected a domain of yours, and this is a public suffix" : undefined
  })
)

const platformDomain = setting(
  "PLATFORM_DOMAIN",
  OwnDomain,
  required("PLATFORM_DOMAIN", Config.succeed("inlet.test")),
  "parent domain of instant inboxes: `inbox@<slug>.inbox.<PLATFORM_DOMAIN>`",
  "`inlet.test`; required in production"
).pipe(Config.map((name) => name.toLowerCase()))

const mxHost = setting(
  "MX_HOST",
  HostName,
  Config.map(platformDomain, (name) => `mx.${name}`),
  "host name for customers' MX records",
  "`mx.<PLATFORM_DOMAIN>`"
).pipe(Config.map((name) => name.toLowerCase()))

const nameServers = setting(
  "DNS_SERVERS",
  commaSeparated(NameServer),
  undefined,
  "DNS servers, as comma-separated `ip[:port]`. Set a resolver that validates DNSSEC",
  "the system's"
)

const tlsCertificate = setting(
  "SMTP_TLS_CERT",
  Schema.NonEmptyString,
  undefined,
  "PEM file with the certificate chain for STARTTLS",
  "self-signed at start"
)

const tlsKey = setting(
  "SMTP_TLS_KEY",
  Schema.NonEmptyString,
  undefined,
  "PEM file with the key of that certificate",
  "self-signed at start"
)

export const messageBytes = setting(
  "MAX_MESSAGE_BYTES",
  wholeNumber("Expected a whole number of bytes from 1 to 1073741824 (1 GiB)", /^0*[1-9]\d*$/, 1024 ** 3),
  1_048_576,
  "largest message in bytes. Raise it for large attachments"
)

const smtpConnections = setting(
  "SMTP_MAX_CONNECTIONS",
  Limit,
  1_000,
  "SMTP connections at a time, `0` for no limit. Raise it with the file limit of the process"
)

const smtpConnectionsPerAddress = setting(
  "SMTP_MAX_CONNECTIONS_PER_IP",
  Limit,
  150,
  "concurrent SMTP connections of one client address, `0` for no limit. Raise it if one mail server sends most of your mail"
)

const smtpDataBytes = setting(
  "SMTP_MAX_DATA_BYTES",
  ByteLimit,
  256 * 1024 * 1024,
  "total bytes of incoming messages, `0` for no limit. Lower it on a machine with little memory"
)

const smtpGreetingDelay = setting(
  "SMTP_GREETING_DELAY",
  // Clients wait for five minutes (RFC 5321, section 4.5.3.2.1).
  spanFrom("0ms", "1m"),
  Duration.zero,
  "delay before the greeting. Inlet disconnects clients that send earlier. Set a few seconds against spam bots",
  "`0ms`"
)

const smtpReusePort = setting(
  "SMTP_REUSE_PORT",
  Flag,
  false,
  "lets several processes of one machine listen on `SMTP_PORT` (SO_REUSEPORT). Set it if one process cannot use all cores"
)

const smtpProxyFrom = setting(
  "SMTP_PROXY_FROM",
  commaSeparated(AddressRange),
  [],
  "load balancers that send a PROXY header on each connection, as comma-separated CIDRs. Set it behind such a balancer, or all clients have its address",
  "none"
)

const smtpXforwardFrom = setting(
  "SMTP_XFORWARD_FROM",
  commaSeparated(AddressRange),
  [],
  "mail servers in front that name the client of each message by XFORWARD or XCLIENT, as comma-separated CIDRs. Set it behind Postfix, or all mail comes from its address",
  "none"
)

const senderChecks = setting(
  "SENDER_CHECKS",
  Flag,
  true,
  "checks SPF, DKIM, DMARC and ARC. Otherwise every verdict is `none`. Turn it off behind a mail server that checks senders"
)

const scannerName = setting(
  "MAIL_SCANNER",
  Schema.Literals(["none", "rspamd"]).annotate({ message: "Expected none or rspamd" }),
  "none",
  "`none` or `rspamd`, which scans mail for spam and viruses"
)

const scannerTimeout = setting(
  "MAIL_SCANNER_TIMEOUT",
  spanFrom("1ms", "1h"),
  Duration.seconds(10),
  "how long a message waits for the scanner, at most twice. Then it goes on as `unknown`. Set it above the `task_timeout` of rspamd",
  "`10s`"
)

const scannerConcurrency = setting(
  "MAIL_SCANNER_CONCURRENCY",
  Count,
  8,
  "messages of a process that the scanner has at a time. Raise it with the workers of rspamd and the threads of ClamAV"
)

const rspamdUrl = setting(
  "RSPAMD_URL",
  httpUrl("Set RSPAMD_PASSWORD"),
  "http://127.0.0.1:11333",
  "where a normal worker of rspamd listens, for `MAIL_SCANNER=rspamd`"
)

const rspamdPassword = setting("RSPAMD_PASSWORD", Secret, undefined, "password for it, if it asks for one")

export const smtp = Config.all({
  host: smtpHost,
  port: smtpPort,
  mxHost,
  messageBytes,
  tlsCertificate,
  tlsKey,
  connections: smtpConnections,
  connectionsPerAddress: smtpConnectionsPerAddress,
  dataBytes: smtpDataBytes,
  greetingDelay: smtpGreetingDelay,
  reusePort: smtpReusePort,
  proxyFrom: smtpProxyFrom,
  xforwardFrom: smtpXforwardFrom
})

export const platform = Config.all({ domain: platformDomain, mxHost })

export const dns = Config.all({ nameServers })

export const reading = Config.all({ senderChecks, mxHost })

export const scanner = Config.all({ name: scannerName, url: rspamdUrl, password: rspamdPassword })

export const scanning = Config.all({ timeout: scannerTimeout, concurrency: scannerConcurrency })

/** The address at which local clients reach the mail server. Undefined in production, where DNS is used. */
export const smtpNearby = Config.map(Config.all([production, smtpHost, smtpPort]), ([isProduction, host, port]) =>
  isProduction ? undefined : `${host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host}:${port}`
)
