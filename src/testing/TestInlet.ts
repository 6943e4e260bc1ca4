import * as NodeServices from "@effect/platform-node/NodeServices"
import { ConfigProvider, Context, Effect, FileSystem, Layer, Schema } from "effect"
import type { Dns } from "effect/net"
import type { SqlClient } from "effect/sql"
import { createTransport } from "nodemailer"
import * as Database from "../database/Database.ts"
import type { WebhookFormat } from "../delivery/formats/WebhookFormat.ts"
import * as Formats from "../delivery/formats/WebhookFormats.ts"
import * as Inlet from "../Inlet.ts"
import * as Platform from "../process/Platform.ts"
import type { CertificateAuthority } from "../providers/authority/CertificateAuthority.ts"
import * as ChosenAuthority from "../providers/authority/ChosenAuthority.ts"
import type { Billing } from "../providers/billing/Billing.ts"
import * as Providers from "../providers/Providers.ts"
import { DnsHost } from "../providers/registrar/DnsHost.ts"
import { Registrar } from "../providers/registrar/Registrar.ts"
import { Registrars } from "../providers/registrar/Registrars.ts"
import type { MailScanner } from "../providers/scanner/MailScanner.ts"
import { WebhookSigner } from "../providers/signing/WebhookSigner.ts"
import type { RawStore } from "../providers/storage/RawStore.ts"
import { StartsThread } from "../reading/Reader.ts"
import * as Settings from "../Settings.ts"
import * as Telemetry from "../telemetry/Telemetry.ts"
import { type Answer, type CallOptions, call, type Method } from "./ApiCall.ts"
import * as Ports from "./Ports.ts"
import * as QuickWasm from "./QuickWasm.ts"

/** A test with a misspelled setting would pass or fail for another reason than it says. */
class Misnamed extends Schema.TaggedError<Misnamed>()("Misnamed", { message: Schema.String }) {}

/** A helper with a refused call would give an object without its fields, or a test that waits for nothing. */
class Refused extends Schema.TaggedError<Refused>()("Refused", { message: Schema.String }) {}

const NewWorkspace = Schema.Struct({
  workspace_id: Schema.String,
  api_key: Schema.String,
  webhook_signing_secret: Schema.String
})

const NewInbox = Schema.Struct({ domain_id: Schema.String, domain: Schema.String, address: Schema.String })

const known: ReadonlySet<string> = new Set(Settings.documented.map(({ name }) => name))

/** The services available to a seam's Layer. */
type World = SqlClient.SqlClient | Layer.Success<typeof Platform.layer>

/** A Layer that replaces the one chosen by the settings. */
type Seam<Service> = Layer.Layer<Service, unknown, World>

/** The seams of the service. Omitted ones follow the settings, which by default need no account. */
export interface Options {
  /** Settings by name. The environment of the process is not read. */
  readonly settings?: Readonly<Record<string, string>>
  /** The only registrar, such as FakeRegistrar. */
  readonly registrar?: Seam<Registrar | DnsHost>
  /** Several registrars, instead of `registrar`. */
  readonly registrars?: Seam<Registrars>
  /** The billing provider, such as FakeBilling. */
  readonly billing?: Seam<Billing>
  /** Issues the certificate of `MX_HOST` with `ACME_DIRECTORY`, such as FakeAuthority. */
  readonly authority?: Seam<CertificateAuthority>
  /** DNS, such as FakeDns. Without it no server answers. */
  readonly dns?: Seam<Dns.Dns>
  /** Signs webhook requests, such as FakeSigner. */
  readonly signer?: Seam<WebhookSigner>
  /** Scans mail, such as FakeScanner. */
  readonly scanner?: Seam<MailScanner>
  /** Formats of webhooks by name, such as FakeFormat, beside the built-in ones. */
  readonly formats?: Readonly<Record<string, Seam<WebhookFormat>>>
  /** The raw store, such as FakeRawStore. */
  readonly rawStore?: Seam<RawStore>
  /** The time of the service, such as FakeClock. */
  readonly clock?: Layer.Layer<never>
  /** A migrated database. Without it an embedded one in a temporary folder. */
  readonly database?: Layer.Layer<SqlClient.SqlClient, unknown, Layer.Success<typeof Platform.layer>>
}

export interface Mail {
  readonly to: string
  /** `sender@sender.example` by default. */
  readonly from?: string
  readonly subject?: string
  readonly text?: string
  readonly html?: string
}

/** The whole service in this process, on loopback ports with a database of its own. */
export class TestInlet extends Context.Service<
  TestInlet,
  {
    readonly url: string
    readonly smtpPort: number
    /** DATA_DIR of this service. */
    readonly folder: string
    /** Calls the API. Never fails for a status. */
    call(method: Method, path: string, options?: CallOptions): Effect.Effect<Answer>
    /** Sends a mail, and returns the server's reply: `250 …`, or the refusal. */
    send(mail: Mail): Effect.Effect<string>
    /** A new workspace, with `ADMIN_TOKEN` where `WORKSPACE_CREATION` is `admin`. A refusal is a defect. */
    readonly workspace: Effect.Effect<{ readonly id: string; readonly key: string; readonly secret: string }>
    /** A new workspace with an instant inbox, and an optional webhook. A refusal is a defect. */
    inbox(webhookUrl?: string): Effect.Effect<{
      readonly key: string
      readonly secret: string
      readonly domainId: string
      readonly domain: string
      readonly address: string
    }>
  }
>()("inlet/testing/TestInlet") {
  /** Starts a new service per Layer, and stops it with the scope. A failed start is a defect. */
  static readonly layer = ({
    authority = ChosenAuthority.layerWith(),
    billing = Providers.billingWith(),
    clock = Layer.empty,
    database = embedded,
    dns = Providers.resolver,
    formats = {},
    rawStore = Providers.rawStore,
    registrar,
    registrars = registrar === undefined ? Providers.registrarsWith() : only(registrar),
    scanner = Providers.scanner,
    settings = {},
    signer = WebhookSigner.layer
  }: Options = {}) =>
    Layer.unwrap(
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const unknown = Object.keys(settings).find((name) => !known.has(name))
        if (unknown !== undefined)
          return yield* new Misnamed({ message: `settings: ${unknown} is no setting of Inlet` })
        const folder = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-test-" })
        const env: Record<string, string> = {
          HTTP_PORT: `${yield* Ports.free}`,
          SMTP_PORT: `${yield* Ports.free}`,
          DATA_DIR: folder,
          LOG_LEVEL: "error",
          // A port without a server, so that no DNS query leaves the machine.
          DNS_SERVERS: "127.0.0.1:9",
          ...settings
        }
        return Layer.sync(TestInlet, () => client(folder, env)).pipe(
          Layer.provideMerge(Inlet.layer),
          Layer.provide(
            Layer.mergeAll(rawStore, dns, registrars, billing, signer, authority, scanner, Formats.layerWith(formats))
          ),
          Layer.provideMerge(database),
          Layer.provideMerge(Platform.layer),
          // Most tests have no mail.
          Layer.provide(Layer.succeed(StartsThread, false)),
          Layer.provide(Telemetry.layer),
          Layer.provide(clock),
          Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env })))
        )
      })
    ).pipe(Layer.provide(NodeServices.layer), Layer.orDie)
}

const embedded = Layer.unwrap(Effect.as(QuickWasm.compileOnce, Database.layer))

const only = (registrar: Seam<Registrar | DnsHost>): Seam<Registrars> =>
  Layer.effect(
    Registrars,
    Effect.gen(function* () {
      const one = yield* Registrar
      return new Map([[one.name, { registrar: one, dnsHost: yield* DnsHost }]])
    })
  ).pipe(Layer.provide(registrar))

/** A client of the service with these settings. */
const client = (folder: string, env: Readonly<Record<string, string>>): TestInlet["Service"] => {
  const url = `http://127.0.0.1:${env.HTTP_PORT}`
  const smtpPort = Number(env.SMTP_PORT)
  const at = (method: Method, path: string, options?: CallOptions) => call(url, method, path, options)

  /** Calls for a helper, whose test does not expect a refusal. */
  const granted = Effect.fnUntraced(function* (...[method, path, options]: Parameters<typeof at>) {
    const { json, status, text } = yield* at(method, path, options)
    if (status >= 200 && status < 300) return json
    const message = `${method} ${path} answered ${status} ${text}. Correct the settings or the argument of the helper, or test the refusal with \`call\``
    return yield* Effect.die(new Refused({ message }))
  })

  const operator = env.WORKSPACE_CREATION === "admin" ? env.ADMIN_TOKEN : undefined

  const workspace = granted("POST", "/api/workspaces", { key: operator, body: { name: "test" } }).pipe(
    Effect.flatMap(Schema.decodeUnknownEffect(NewWorkspace)),
    Effect.map((made) => ({ id: made.workspace_id, key: made.api_key, secret: made.webhook_signing_secret })),
    Effect.orDie
  )

  const inbox = Effect.fnUntraced(function* (webhookUrl?: string) {
    const { key, secret } = yield* workspace
    const { address, domain, domain_id } = yield* granted("POST", "/api/instant-inbox", { key }).pipe(
      Effect.flatMap(Schema.decodeUnknownEffect(NewInbox)),
      Effect.orDie
    )
    if (webhookUrl !== undefined) {
      yield* granted("PATCH", `/api/domains/${domain_id}/delivery`, { key, body: { webhookUrl } })
    }
    return { key, secret, domainId: domain_id, domain, address }
  })

  const send = ({ from = "sender@sender.example", ...mail }: Mail) =>
    Effect.acquireUseRelease(
      // A local server has a self-signed certificate.
      Effect.sync(() => createTransport({ host: "127.0.0.1", port: smtpPort, tls: { rejectUnauthorized: false } })),
      (transport) =>
        Effect.tryPromise(() => transport.sendMail({ from, ...mail })).pipe(
          Effect.map(({ response }) => response),
          Effect.catch(({ cause }) => answerIn(cause))
        ),
      (transport) => Effect.sync(() => transport.close())
    )

  return TestInlet.of({ url, smtpPort, folder, call: at, send, workspace, inbox })
}

/** The server's answer. A failed connection is a defect. */
const answerIn = (cause: unknown) => {
  const { response } = Object(cause) as { readonly response?: string }
  return response === undefined ? Effect.die(cause) : Effect.succeed(response)
}
