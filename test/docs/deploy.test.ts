import { readdirSync, readFileSync } from "node:fs"
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { type Config, ConfigProvider, Effect, FileSystem, Option, Schema } from "effect"
import { Toml, Yaml } from "effect/encoding"
import { Headers } from "effect/http"
import { Deployment } from "kubernetes-models/apps/v1/Deployment"
import { Ingress } from "kubernetes-models/networking.k8s.io/v1/Ingress"
import { PodDisruptionBudget } from "kubernetes-models/policy/v1/PodDisruptionBudget"
import { ConfigMap } from "kubernetes-models/v1/ConfigMap"
import { Service } from "kubernetes-models/v1/Service"
import * as ClientAddress from "../../src/http/requests/ClientAddress.ts"
import * as Settings from "../../src/Settings.ts"
import * as Needs from "../Needs.ts"
import * as Program from "../Program.ts"

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8")

/** The settings of a process with this environment and the values that an operator adds. */
const given = <A>(config: Config.Config<A>, environment: Readonly<Record<string, string>>) =>
  Effect.provideService(
    config,
    ConfigProvider.ConfigProvider,
    ConfigProvider.fromEnv({
      env: {
        DATABASE_URL: "postgres://inlet@database:5432/inlet",
        SECRETS_KEY: Buffer.alloc(32).toString("base64"),
        SERVICE_PUBLIC_URL: "https://inlet.example.com",
        PLATFORM_DOMAIN: "example.com",
        ...environment
      }
    })
  )

const known: ReadonlyArray<string> = Settings.documented.map(({ name }) => name)

/** The metrics of the service, from the page that a test compares with the sources. */
const metrics = [...read("docs/how-to/monitor.md").matchAll(/^\| `(inlet_\w+)` \|/gm)].map(([, name = ""]) => name)
const metricsIn = (text: string) =>
  [...text.matchAll(/\binlet_[a-z_]+\b/g)].map(([name]) => name.replace(/_(bucket|sum|count)$/, ""))

describe("deploy/kubernetes", () => {
  const models: Readonly<Record<string, new (json: never) => { validate(): void }>> = {
    ConfigMap,
    Deployment,
    Ingress,
    PodDisruptionBudget,
    Service
  }
  const Manifest = Schema.Struct({ kind: Schema.String, metadata: Schema.Struct({ name: Schema.String }) })
  const documents = readdirSync(new URL("../../deploy/kubernetes", import.meta.url)).flatMap((file) =>
    read(`deploy/kubernetes/${file}`)
      .split(/^---$/m)
      .map((text) => ({ text, json: Yaml.parse(text) }))
  )

  it("matches the schemas of Kubernetes", () => {
    assert.isNotEmpty(documents)
    for (const { json } of documents) {
      const { kind } = Schema.decodeUnknownSync(Manifest)(json)
      const Model = models[kind]
      assert.isDefined(Model, kind)
      // The schemas reject unknown fields.
      assert.doesNotThrow(() => new Model(json as never).validate(), kind)
    }
  })

  it("starts a hanging process of any role anew, and rolls no workers out that have no database", () => {
    const Probe = Schema.Struct({ httpGet: Schema.Struct({ path: Schema.String }) })
    const Probed = Schema.Struct({
      kind: Schema.Literal("Deployment"),
      metadata: Schema.Struct({ name: Schema.String }),
      spec: Schema.Struct({
        template: Schema.Struct({
          spec: Schema.Struct({
            containers: Schema.Tuple([
              Schema.Struct({ livenessProbe: Probe, startupProbe: Probe, readinessProbe: Schema.Unknown })
            ])
          })
        })
      })
    })
    const deployments = documents.filter(({ text }) => /^kind: Deployment$/m.test(text))
    assert.lengthOf(deployments, 3)
    for (const { json } of deployments) {
      const { metadata, spec } = Schema.decodeUnknownSync(Probed)(json)
      const [{ livenessProbe, readinessProbe, startupProbe }] = spec.template.spec.containers
      assert.strictEqual(livenessProbe.httpGet.path, "/health")
      assert.strictEqual(startupProbe.httpGet.path, "/health")
      if (metadata.name === "inlet-worker") assert.deepNestedInclude(readinessProbe, { "httpGet.path": "/ready" })
    }
  })

  it("leaves the limit of a request body to Inlet", () => {
    const Annotated = Schema.Struct({
      metadata: Schema.Struct({ annotations: Schema.Record(Schema.String, Schema.String) })
    })
    const ingress = documents.find(({ text }) => /^kind: Ingress$/m.test(text))?.json
    const { metadata } = Schema.decodeUnknownSync(Annotated)(ingress)
    assert.strictEqual(metadata.annotations["nginx.ingress.kubernetes.io/proxy-body-size"], "0")
  })

  it.effect("has existing settings, runs every role, and may bind its ports", () =>
    Effect.gen(function* () {
      const [config] = documents.map(({ json }) => json as { kind: string; data: Record<string, string> })
      assert.strictEqual(config?.kind, "ConfigMap")
      assert.deepStrictEqual(
        Object.keys(config?.data ?? {}).filter((name) => !known.includes(name)),
        []
      )
      const { port } = yield* given(Settings.smtp, config?.data ?? {})
      assert.strictEqual(port, 2525)
      const roles = documents.flatMap(({ text }) =>
        [...text.matchAll(/name: ROLES, value: (\w+)/g)].map(([, role]) => role)
      )
      assert.deepStrictEqual(roles, ["http", "smtp", "worker"])
    })
  )
})

describe("deploy/inlet.service", () => {
  const unit = read("deploy/inlet.service")

  it.live(
    "passes systemd-analyze verify",
    () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* fs.makeTempDirectoryScoped()
        // The program of the unit need not be installed here.
        const elsewhere = unit
          .replace("/usr/bin/node", process.execPath)
          .replace("EnvironmentFile=/", "EnvironmentFile=-/")
        yield* fs.writeFileString(`${folder}/inlet.service`, elsewhere)
        const checked = yield* Program.run("systemd-analyze", ["verify", "--man=no", `${folder}/inlet.service`])
        assert.deepStrictEqual({ code: checked.code, stderr: checked.stderr }, { code: 0, stderr: "" })
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    Needs.options(Needs.systemd)
  )

  it("has the start command of npm start", () => {
    const manifest: { readonly scripts: { readonly start: string } } = JSON.parse(read("package.json"))
    assert.include(unit, `ExecStart=/usr/bin/${manifest.scripts.start.replace(/^exec /, "")}\n`)
  })
})

describe("deploy/fly.toml", () => {
  // The keys and formats of Fly's reference for this file, because Fly ignores unknown ones.
  const Ports = Schema.Struct({
    port: Schema.Int,
    handlers: Schema.Array(Schema.Literals(["http", "tls", "pg_tls", "proxy_proto"])),
    proxy_proto_options: Schema.Struct({ version: Schema.Literals(["v1", "v2"]) })
  })
  const machines = {
    auto_stop_machines: Schema.Literals(["off", "stop", "suspend"]),
    auto_start_machines: Schema.Boolean
  }
  const Fly = Schema.Struct({
    app: Schema.NonEmptyString,
    primary_region: Schema.String.check(Schema.isPattern(/^[a-z]{3}$/)),
    kill_signal: Schema.Literals(["SIGINT", "SIGTERM"]),
    kill_timeout: Schema.String.check(Schema.isPattern(/^\d+s$/)),
    env: Schema.Record(Schema.String, Schema.String),
    mounts: Schema.Array(Schema.Struct({ source: Schema.String, destination: Schema.String })),
    http_service: Schema.Struct({
      internal_port: Schema.Int,
      force_https: Schema.Boolean,
      min_machines_running: Schema.Int,
      ...machines,
      checks: Schema.Array(
        Schema.Struct({
          method: Schema.Literal("GET"),
          path: Schema.String,
          interval: Schema.String,
          timeout: Schema.String,
          grace_period: Schema.String
        })
      )
    }),
    services: Schema.Array(
      Schema.Struct({
        protocol: Schema.Literals(["tcp", "udp"]),
        internal_port: Schema.Int,
        ...machines,
        ports: Schema.Array(Ports)
      })
    ),
    vm: Schema.Array(Schema.Struct({ size: Schema.String, memory: Schema.String }))
  })

  it.effect("has keys that Fly knows, existing settings and matching ports", () =>
    Effect.gen(function* () {
      const toml = yield* Effect.fromResult(Toml.parse(read("deploy/fly.toml")))
      const fly = yield* Schema.decodeUnknownEffect(Fly)(toml, { onExcessProperty: "error" })
      assert.deepStrictEqual(
        Object.keys(fly.env).filter((name) => !known.includes(name)),
        []
      )
      const smtp = yield* given(Settings.smtp, fly.env)
      const http = yield* given(Settings.http, fly.env)
      assert.strictEqual(fly.services[0]?.internal_port, smtp.port)
      assert.strictEqual(fly.services[0]?.ports[0]?.port, 25)
      assert.strictEqual(fly.http_service.internal_port, http.port)
      assert.strictEqual(fly.mounts[0]?.destination, (yield* given(Settings.database, fly.env)).dataDirectory)
      assert.isNotEmpty(smtp.proxyFrom)
    })
  )

  it.effect("takes the client from X-Forwarded-For as Fly sends it, and not the app or a claim", () =>
    Effect.gen(function* () {
      const { env } = yield* Schema.decodeUnknownEffect(Fly)(
        yield* Effect.fromResult(Toml.parse(read("deploy/fly.toml")))
      )
      const { trustProxy } = yield* given(Settings.clients, env)
      const headers = Headers.fromInput({ "x-forwarded-for": "192.0.2.1, 198.51.100.7, 66.241.125.9" })
      assert.strictEqual(ClientAddress.of({ headers, remoteAddress: Option.none() }, trustProxy), "198.51.100.7")
    })
  )
})

describe("deploy/alerts.yml", () => {
  const text = read("deploy/alerts.yml")

  it.live(
    "passes promtool check",
    () =>
      Effect.gen(function* () {
        const { code, stdout } = yield* Program.run("promtool", ["check", "rules", "deploy/alerts.yml"])
        assert.match(stdout, /SUCCESS: \d+ rules found/)
        assert.strictEqual(code, 0)
      }).pipe(Effect.provide(NodeServices.layer)),
    Needs.options(Needs.promtool)
  )

  it.live(
    "fires for many deliveries that wait and for new dead letters, and not for a few",
    () =>
      Effect.gen(function* () {
        const { code, stdout } = yield* Program.run("promtool", ["test", "rules", "test/docs/alerts.yml"])
        assert.match(stdout, /SUCCESS/)
        assert.strictEqual(code, 0)
      }).pipe(Effect.provide(NodeServices.layer)),
    Needs.options(Needs.promtool)
  )

  it("uses metrics that exist", () => {
    const asked = metricsIn(text)
    assert.isNotEmpty(asked)
    assert.includeMembers(metrics, asked)
  })
})

describe("deploy/grafana-dashboard.json", () => {
  it("shows every metric and no other", () => {
    assert.sameMembers([...new Set(metricsIn(read("deploy/grafana-dashboard.json")))], metrics)
  })

  it("has non-overlapping panels, each with a title and a description", () => {
    interface Panel {
      readonly id: number
      readonly type: string
      readonly title: string
      readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
      readonly targets?: ReadonlyArray<{ readonly expr: string }>
    }
    const { panels }: { readonly panels: ReadonlyArray<Panel> } = JSON.parse(read("deploy/grafana-dashboard.json"))
    assert.strictEqual(new Set(panels.map(({ id }) => id)).size, panels.length)
    const cells = panels.flatMap(({ gridPos: { h, w, x, y } }) =>
      Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`)
    )
    assert.strictEqual(new Set(cells).size, cells.length)
    for (const { targets = [], title, type } of panels) {
      assert.isNotEmpty(title)
      if (type !== "row") assert.isNotEmpty(targets)
    }
  })
})
