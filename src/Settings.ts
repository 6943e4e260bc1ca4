// As long as the table of settings: each is declared here, once, with its default and its line of documentation.
import { Config, ConfigProvider, Duration, Option, Redacted, Schema } from "effect"
import * as Issue from "effect/SchemaIssue"
import { BillingProvider, RegistrarName } from "./model/Order.ts"
import { declared, setting } from "./settings/Setting.ts"
import {
  AddressRange,
  beginningWith,
  Cents,
  Count,
  commaSeparated,
  Flag,
  HostName,
  HttpUrl,
  Key,
  Limit,
  NameServer,
  Port,
  PostgresUrl,
  Secret,
  Span,
  TldRoute,
  wholeNumber
} from "./settings/SettingText.ts"

/** Every setting of the service, in the order of docs/settings.md. */
export const documented = declared

const contact = (name: string, meaning: string) =>
  setting(`NAMECHEAP_CONTACT_${name}`, Schema.NonEmptyString, undefined, meaning)

/** What `NODE_ENV` says; `prod` must not quietly be development. */
export const mode = setting(
  "NODE_ENV",
  Schema.Literals(["development", "test", "production"]).annotate({
    message: "Expected development, test or production"
  }),
  "development",
  "`development`, `test` or `production`, which insists on https webhooks, a real database and given secrets"
)

/** Whether `NODE_ENV` is `production`. */
export const production = Config.map(mode, (name) => name === "production")

const inProduction = <A, B>(there: Config.Config<A>, elsewhere: Config.Config<B>): Config.Config<A | B> =>
  Config.flatMap(production, (yes): Config.Config<A | B> => (yes ? there : elsewhere))

const requirements: Array<{ readonly name: string; readonly line: string }> = []

const refused = (...lines: ReadonlyArray<string>) =>
  Config.fail(new ConfigProvider.SourceError({ message: lines.join("\n") }))

/** Production refuses to start without it. */
const required = <B>(name: string, wanted: string, elsewhere: Config.Config<B>): Config.Config<B> => {
  const line = `${name}: Missing, and production needs it: ${wanted}`
  requirements.push({ name, line })
  return inProduction(refused(line), elsewhere)
}

/** Everything that production misses, at once: a line each. */
const complete = Config.flatMap(production, (yes) =>
  Config.flatMap(
    Config.all(
      (yes ? requirements : []).map(({ line, name }) =>
        Config.map(Config.option(Config.String(name)), (value) => (Option.isNone(value) ? [line] : []))
      )
    ),
    (lines) => (lines.flat().length === 0 ? Config.succeed(undefined) : refused(...lines.flat()))
  )
)

const anywhere = inProduction(Config.succeed("0.0.0.0"), Config.succeed("127.0.0.1"))

const httpHost = setting(
  "HTTP_HOST",
  Schema.NonEmptyString,
  anywhere,
  "address of the API",
  "`127.0.0.1` (`0.0.0.0` in production)"
)
export const httpPort = setting("HTTP_PORT", Port, 3000, "port of the API")
const smtpHost = setting(
  "SMTP_HOST",
  Schema.NonEmptyString,
  anywhere,
  "address of the mail server",
  "`127.0.0.1` (`0.0.0.0` in production)"
)
/** Where `inlet send` looks for the mail server when nobody says otherwise. */
export const defaultSmtpPort = 2525

export const smtpPort = setting(
  "SMTP_PORT",
  Port,
  inProduction(Config.succeed(25), Config.succeed(defaultSmtpPort)),
  "port of the mail server",
  "`2525` (`25` in production)"
)

export const roles = setting(
  "ROLES",
  commaSeparated(
    Schema.Literals(["http", "smtp", "worker"]).annotate({
      message: "Expected some of http, smtp and worker, separated by commas"
    })
  ).check(Schema.isMinLength(1, { message: "Expected some of http, smtp and worker, separated by commas" })),
  ["http", "smtp", "worker"] as const,
  "which runtimes this process runs",
  "`http,smtp,worker`"
)

/** The secret of the bucket in docker-compose.yml, which everybody knows. */
const trialSecret = "1".repeat(64)

const databaseUrl = setting(
  "DATABASE_URL",
  PostgresUrl,
  required("DATABASE_URL", "postgres://user:password@host:5432/database", Config.succeed(undefined)),
  "PostgreSQL 15 or later",
  "none: embedded Postgres under `DATA_DIR`; required in production"
).pipe(
  Config.flatMap((url) =>
    url !== undefined && new URL(Redacted.value(url)).password === "inlet"
      ? inProduction(
          Config.fail(
            new ConfigProvider.SourceError({
              message:
                "DATABASE_URL: This password is the one that docker-compose.yml has for trying out; production needs another (POSTGRES_PASSWORD)"
            })
          ),
          Config.succeed(url)
        )
      : Config.succeed(url)
  )
)
const dataDirectory = setting("DATA_DIR", Schema.NonEmptyString, "./data", "folder of what the service keeps on disk")
const rawDirectory = setting(
  "RAW_DIR",
  Schema.NonEmptyString,
  Config.map(dataDirectory, (folder) => `${folder}/raw`),
  "folder of the raw messages; several processes share one",
  "`<DATA_DIR>/raw`"
)
const rawStoreKind = setting(
  "RAW_STORE",
  Schema.Literals(["file", "s3"]),
  "file",
  "where raw messages are kept: `file` in `RAW_DIR`, `s3` in a bucket"
)
const s3Endpoint = setting("S3_ENDPOINT", HttpUrl, undefined, "URL of the S3 store, without the bucket")
const s3Region = setting("S3_REGION", Schema.NonEmptyString, undefined, "region of the bucket, as its store names it")
const s3Bucket = setting(
  "S3_BUCKET",
  Schema.NonEmptyString,
  undefined,
  "bucket of the raw messages, which has to exist"
)
const s3AccessKeyId = setting("S3_ACCESS_KEY_ID", Schema.NonEmptyString, undefined, "id of the key to that bucket")
const s3SecretAccessKey = setting("S3_SECRET_ACCESS_KEY", Secret, undefined, "secret of that key").pipe(
  Config.flatMap((secret) =>
    secret !== undefined && Redacted.value(secret) === trialSecret
      ? inProduction(
          Config.fail(
            new ConfigProvider.SourceError({
              message:
                "S3_SECRET_ACCESS_KEY: This secret is the one that docker-compose.yml has for trying out; production needs another"
            })
          ),
          Config.succeed(secret)
        )
      : Config.succeed(secret)
  )
)
const publicUrl = setting(
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
const platformDomain = setting(
  "PLATFORM_DOMAIN",
  HostName,
  required("PLATFORM_DOMAIN", "a domain of yours that instant inboxes are under", Config.succeed("inlet.test")),
  "instant inboxes are `inbox@<slug>.inbox.<PLATFORM_DOMAIN>`",
  "`inlet.test`; required in production"
).pipe(Config.map((name) => name.toLowerCase()))
const mxHost = setting(
  "MX_HOST",
  HostName,
  Config.map(platformDomain, (name) => `mx.${name}`),
  "host that MX records point at",
  "`mx.<PLATFORM_DOMAIN>`"
).pipe(Config.map((name) => name.toLowerCase()))
const nameServers = setting(
  "DNS_SERVERS",
  commaSeparated(NameServer),
  undefined,
  "name servers to ask, comma-separated `ip[:port]`",
  "the system's"
)
const secretsKey = setting(
  "SECRETS_KEY",
  Key,
  required("SECRETS_KEY", "32 bytes in base64 (openssl rand -base64 32), the same for ever", Config.succeed(undefined)),
  "32 bytes in base64 that webhook secrets are encrypted under",
  "made once in `DATA_DIR`; required in production"
)
const adminToken = setting(
  "ADMIN_TOKEN",
  Secret,
  undefined,
  "bearer token of the operator's routes",
  "made once in `DATA_DIR`; none in production: no such routes"
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
const smtpConnections = setting("SMTP_MAX_CONNECTIONS", Limit, 1_000, "SMTP connections at a time; `0` for no limit")
const smtpConnectionsPerAddress = setting(
  "SMTP_MAX_CONNECTIONS_PER_IP",
  Limit,
  150,
  "SMTP connections at a time from one client address; `0` for no limit"
)
const smtpDataBytes = setting(
  "SMTP_MAX_DATA_BYTES",
  Limit,
  256 * 1024 * 1024,
  "bytes of messages that are coming in or wait for their answer, in all; `0` for no limit"
)
const smtpGreetingDelay = setting(
  "SMTP_GREETING_DELAY",
  Span,
  Duration.zero,
  "how long a client is watched before it is greeted; one that talks meanwhile is sent away",
  "`0ms`"
)
const smtpReusePort = setting(
  "SMTP_REUSE_PORT",
  Flag,
  false,
  "lets several processes of one machine listen on `SMTP_PORT`; the system shares the connections out"
)
const smtpProxyFrom = setting(
  "SMTP_PROXY_FROM",
  commaSeparated(AddressRange),
  [],
  "balancers that begin each connection with a PROXY header naming the client, comma-separated CIDRs",
  "none"
)
const senderChecks = setting(
  "SENDER_CHECKS",
  Flag,
  true,
  "checks SPF, DKIM, DMARC and ARC; without it every verdict is `none`"
)
const trustProxy = setting(
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
const apiConnections = setting(
  "HTTP_DATABASE_CONNECTIONS",
  Count,
  8,
  "connections to `DATABASE_URL` that the API has, beside the 12 of mail and deliveries"
)
const webhookTimeout = setting("WEBHOOK_TIMEOUT", Span, Duration.seconds(15), "longest webhook request", "`15s`")
const retryDelays = setting(
  "WEBHOOK_RETRY_DELAYS",
  commaSeparated(Span).check(Schema.isMinLength(1)),
  ["5s", "1m", "5m", "30m", "2h", "5h", "10h", "14h", "20h", "24h"].map((text) => Schema.decodeSync(Span)(text)),
  "waits between the attempts of a delivery; after the last it is dead",
  "`5s,1m,5m,30m,2h,5h,10h,14h,20h,24h`"
)
const deliveryConcurrency = setting("DELIVERY_CONCURRENCY", Count, 256, "webhook requests at a time in one process")
const deliveryConcurrencyPerDomain = setting(
  "DELIVERY_CONCURRENCY_PER_DOMAIN",
  Count,
  16,
  "webhook requests at a time to one domain's webhook in one process"
)
const allowPrivateWebhooks = setting(
  "ALLOW_PRIVATE_WEBHOOKS",
  Flag,
  inProduction(Config.succeed(false), Config.succeed(true)),
  "lets webhooks reach private, loopback and other special addresses",
  "`true` (`false` in production)"
)
const webhookAllow = setting(
  "WEBHOOK_ALLOW",
  commaSeparated(AddressRange),
  [],
  "addresses that webhooks may reach although they are private or denied, comma-separated CIDRs",
  "none"
)
const webhookDeny = setting(
  "WEBHOOK_DENY",
  commaSeparated(AddressRange),
  [],
  "addresses that webhooks must not reach, comma-separated CIDRs",
  "none"
)
const domainsPerWorkspace = setting(
  "MAX_DOMAINS_PER_WORKSPACE",
  Limit,
  1,
  "own domains of a workspace, the instant inbox not counted; `0` for no limit"
)
const emailsPerDay = setting(
  "MAX_EMAILS_PER_DAY",
  Limit,
  100,
  "messages accepted for a workspace in a UTC day; `0` for no limit"
)
const emailsPerSender = setting(
  "MAX_EMAILS_PER_SENDER_PER_DAY",
  Limit,
  0,
  "messages accepted from one client address (IPv6: /64) in a UTC day; `0` for no limit"
)
const messageBytes = setting("MAX_MESSAGE_BYTES", Count, 1_048_576, "largest message in bytes")
const retentionDays = setting(
  "RETENTION_DAYS",
  Limit,
  14,
  "days that messages, events and attempts are kept; `0` for ever"
)
const workspacesPerAddress = setting(
  "WORKSPACES_PER_IP_PER_DAY",
  Limit,
  3,
  "workspaces, and demo inboxes, that one client address may make in a UTC day in production; `0` for no limit"
)
const replaysPerMinute = setting(
  "REPLAYS_PER_MINUTE",
  Limit,
  60,
  "replays of a workspace in a minute, in one process; `0` for no limit"
)
const replaysPerDay = setting("REPLAYS_PER_DAY", Limit, 2_000, "replays of a workspace in a UTC day; `0` for no limit")
const webhookChangesPerMinute = setting(
  "WEBHOOK_CHANGES_PER_MINUTE",
  Limit,
  10,
  "changes of its webhooks by a workspace in a minute, in one process; `0` for no limit"
)
const webhookChangesPerDay = setting(
  "WEBHOOK_CHANGES_PER_DAY",
  Limit,
  100,
  "changes of its webhooks by a workspace in a UTC day; `0` for no limit"
)
const registrarPrimary = setting(
  "REGISTRAR_PRIMARY",
  RegistrarName,
  RegistrarName.make("mock"),
  "registrar that wins when prices are equal: `mock`, `namecheap` or `openprovider`"
)
const registrarTldMap = setting(
  "REGISTRAR_TLD_MAP",
  commaSeparated(TldRoute),
  [],
  "which registrars are asked for a TLD, comma-separated `tld:registrar`",
  "none: all are asked for all"
)
const billingProvider = setting(
  "BILLING_PROVIDER",
  BillingProvider,
  BillingProvider.make("mock"),
  "`mock` pays from a wallet of $50.00, `stripe` through a checkout"
)
const markup = setting("DOMAIN_MARKUP_CENTS", Cents, 299, "added to the wholesale price of an order, in US cents")
const stripeSecretKey = setting(
  "STRIPE_SECRET_KEY",
  beginningWith(/^(sk|rk)_/, "Expected a secret key of Stripe, which begins with sk_ or rk_"),
  undefined,
  "secret key of the Stripe account"
)
const stripeWebhookSecret = setting(
  "STRIPE_WEBHOOK_SECRET",
  beginningWith(/^whsec_/, "Expected the signing secret of a Stripe webhook, which begins with whsec_"),
  undefined,
  "signing secret of the Stripe webhook at `/api/webhooks/stripe`"
)
const stripeApiUrl = setting("STRIPE_API_URL", HttpUrl, undefined, "another address of Stripe's API", "Stripe's own")
const namecheapApiUser = setting("NAMECHEAP_API_USER", Schema.NonEmptyString, undefined, "Namecheap user name")
const namecheapApiKey = setting("NAMECHEAP_API_KEY", Secret, undefined, "Namecheap API key")
const namecheapClientIp = setting(
  "NAMECHEAP_CLIENT_IP",
  Schema.NonEmptyString,
  undefined,
  "public IPv4 address of this machine, as allowed at Namecheap"
)
const namecheapSandbox = setting("NAMECHEAP_SANDBOX", Flag, false, "asks Namecheap's sandbox")
const namecheapContact = Config.all({
  firstName: contact("FIRST_NAME", "first name of the registrant"),
  lastName: contact("LAST_NAME", "last name of the registrant"),
  address: contact("ADDRESS", "street address of the registrant"),
  city: contact("CITY", "city of the registrant"),
  state: contact("STATE", "state or province of the registrant"),
  postalCode: contact("POSTAL_CODE", "postal code of the registrant"),
  country: contact("COUNTRY", "country of the registrant, two letters"),
  phone: contact("PHONE", "telephone of the registrant, such as +1.5551234567"),
  email: contact("EMAIL", "email address of the registrant")
})
const namecheapApiUrl = setting(
  "NAMECHEAP_API_URL",
  HttpUrl,
  undefined,
  "another address of Namecheap's API",
  "Namecheap's own"
)
const openproviderUsername = setting(
  "OPENPROVIDER_USERNAME",
  Schema.NonEmptyString,
  undefined,
  "Openprovider user name"
)
const openproviderPassword = setting("OPENPROVIDER_PASSWORD", Secret, undefined, "Openprovider password")
const openproviderSandbox = setting("OPENPROVIDER_SANDBOX", Flag, false, "asks Openprovider's sandbox")
const openproviderOwner = setting(
  "OPENPROVIDER_OWNER_HANDLE",
  Schema.NonEmptyString,
  undefined,
  "contact handle of the registrant"
)
const openproviderNsGroup = setting(
  "OPENPROVIDER_NS_GROUP",
  Schema.NonEmptyString,
  undefined,
  "name server group of new domains",
  "Openprovider's own"
)
const openproviderApiUrl = setting(
  "OPENPROVIDER_API_URL",
  HttpUrl,
  undefined,
  "another address of Openprovider's API",
  "Openprovider's own"
)
const logLevel = setting(
  "LOG_LEVEL",
  Schema.Literals(["trace", "debug", "info", "warn", "error"]),
  "info",
  "least serious log line printed"
)
const logFormat = setting(
  "LOG_FORMAT",
  Schema.Literals(["pretty", "json"]),
  inProduction(Config.succeed("json"), Config.succeed("pretty")),
  "`pretty` for people, `json` for machines",
  "`pretty` (`json` in production)"
)
const otlpEndpoint = setting(
  "OTEL_EXPORTER_OTLP_ENDPOINT",
  HttpUrl,
  undefined,
  "base URL of an OTLP/HTTP collector for traces, metrics and logs"
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
  proxyFrom: smtpProxyFrom
})

export const database = Config.all({ url: databaseUrl, dataDirectory, apiConnections })

export const rawStore = Config.all({ kind: rawStoreKind, folder: rawDirectory, messageBytes })

export const bucket = Config.all({
  endpoint: s3Endpoint,
  region: s3Region,
  name: s3Bucket,
  accessKeyId: s3AccessKeyId,
  secretAccessKey: s3SecretAccessKey
})

export const platform = Config.all({ domain: platformDomain, mxHost })

export const dns = Config.all({ nameServers })

/** What is given, and the folder where development makes the rest once. */
export const secrets = Config.all({ secretsKey, adminToken, dataDirectory, production })

export const webhooks = Config.all({
  production,
  timeout: webhookTimeout,
  retryDelays,
  concurrency: deliveryConcurrency,
  concurrencyPerDomain: deliveryConcurrencyPerDomain
})

/** Which addresses a request to a customer's URL may reach; the allowed win over the denied. */
export const egress = Config.all({ allowPrivate: allowPrivateWebhooks, allow: webhookAllow, deny: webhookDeny })

export const limits = Config.all({ domainsPerWorkspace, emailsPerDay, emailsPerSender, messageBytes, retentionDays })

export const reading = Config.all({ senderChecks, mxHost })

export const purchase = Config.all({
  registrarPrimary,
  tldMap: registrarTldMap,
  billingProvider,
  markupCents: markup,
  publicUrl,
  production
})

export const stripe = Config.all({
  secretKey: stripeSecretKey,
  webhookSecret: stripeWebhookSecret,
  apiUrl: stripeApiUrl
})

export const namecheap = Config.all({
  apiUser: namecheapApiUser,
  apiKey: namecheapApiKey,
  clientIp: namecheapClientIp,
  sandbox: namecheapSandbox,
  contact: namecheapContact,
  apiUrl: namecheapApiUrl
})

export const openprovider = Config.all({
  username: openproviderUsername,
  password: openproviderPassword,
  sandbox: openproviderSandbox,
  ownerHandle: openproviderOwner,
  nsGroup: openproviderNsGroup,
  apiUrl: openproviderApiUrl
})

/** How clients of the API are told apart, and what each may make in a day; zero is no limit. */
export const clients = Config.all({
  trustProxy,
  workspacesPerDay: Config.map(Config.all([production, workspacesPerAddress]), ([yes, most]) => (yes ? most : 0))
})

/** How often a workspace may do what has requests sent. */
export const actions = Config.all({
  replays: Config.all({ perMinute: replaysPerMinute, perDay: replaysPerDay }),
  webhookChanges: Config.all({ perMinute: webhookChangesPerMinute, perDay: webhookChangesPerDay })
})

export const telemetry = Config.all({ logLevel, logFormat, otlpEndpoint })

const every = Config.all({
  roles,
  http,
  answers,
  smtp,
  database,
  rawStore,
  bucket,
  platform,
  dns,
  secrets,
  webhooks,
  egress,
  limits,
  reading,
  purchase,
  stripe,
  namecheap,
  openprovider,
  clients,
  actions,
  telemetry
})

/** Reads every setting, so that a wrong one stops the start whichever roles run. */
export const all = Config.flatMap(complete, () => every)

const issuesOf = Issue.makeFormatterStandardSchemaV1()

/** One line a person can act on: the setting's name and what is expected of it. Never the value, which may be a secret. */
export const explain = ({ cause }: Config.ConfigError): string =>
  cause._tag === "SourceError"
    ? cause.message
    : issuesOf(cause.issue)
        .issues.map(({ message, path = [] }) => {
          const [name] = path
          return name === undefined ? message : `${String(typeof name === "object" ? name.key : name)}: ${message}`
        })
        .join("; ")
