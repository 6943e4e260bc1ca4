import { readFileSync } from "node:fs"
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { type Config, ConfigProvider, Effect, FileSystem, Schema } from "effect"
import { Toml, Yaml } from "effect/encoding"
import * as AddressRange from "../../src/model/AddressRange.ts"
import * as Settings from "../../src/Settings.ts"
import * as Haproxy from "../Haproxy.ts"
import * as Needs from "../Needs.ts"
import * as Program from "../Program.ts"

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8")

const Healthcheck = Schema.Struct({ test: Schema.Array(Schema.String), interval: Schema.String })
const Disabled = Schema.Struct({ disable: Schema.Literal(true) })
const Healthy = Schema.Struct({ condition: Schema.Literal("service_healthy") })
/** Null means a value from the environment. */
const Environment = Schema.Record(Schema.String, Schema.NullOr(Schema.Union([Schema.String, Schema.Finite])))
const EnvFile = Schema.Tuple([Schema.Struct({ path: Schema.Literal(".env"), required: Schema.Literal(false) })])

const inlet = {
  build: Schema.Literal("."),
  depends_on: Schema.Struct({ postgres: Healthy, garage: Healthy }),
  env_file: EnvFile,
  environment: Environment,
  volumes: Schema.Array(Schema.String),
  stop_grace_period: Schema.String
}

/** One role of the scaled service: two replicas in the profile `scaled`. */
const Role = Schema.Struct({
  ...inlet,
  profiles: Schema.Tuple([Schema.Literal("scaled")]),
  deploy: Schema.Struct({ replicas: Schema.Literal(2) }),
  healthcheck: Schema.Union([Healthcheck, Disabled])
})

const Compose = Schema.Struct({
  services: Schema.Struct({
    inlet: Schema.Struct({ ...inlet, ports: Schema.Array(Schema.String), healthcheck: Healthcheck }),
    smtp: Role,
    http: Role,
    worker: Role,
    balancer: Schema.Struct({
      image: Schema.String,
      profiles: Schema.Tuple([Schema.Literal("scaled")]),
      ports: Schema.Array(Schema.String),
      volumes: Schema.Array(Schema.String)
    }),
    postgres: Schema.Struct({
      image: Schema.String,
      environment: Environment,
      volumes: Schema.Array(Schema.String),
      healthcheck: Healthcheck
    }),
    garage: Schema.Struct({
      image: Schema.String,
      command: Schema.Array(Schema.String),
      environment: Environment,
      volumes: Schema.Array(Schema.String),
      healthcheck: Healthcheck
    })
  }),
  volumes: Schema.Record(Schema.String, Schema.Null)
})

const compose = Effect.suspend(() => Schema.decodeUnknownEffect(Compose)(Yaml.parse(read("docker-compose.yml"))))

const garageToml = Effect.suspend(() => Effect.fromResult(Toml.parse(read("deploy/garage.toml"))))

/** Text as Docker interpolates it without variables: `${NAME:-fallback}` is its fallback, which may be nested. */
const interpolated = (text: string): string => {
  const inner = text.replace(/\$\{\w+:-([^${}]*)\}/g, "$1")
  return inner === text ? text : interpolated(inner)
}

/** The environment of a container without outer variables. */
const unset = (environment: typeof Environment.Type): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environment)
      .map(([name, value]) => [name, interpolated(`${value ?? ""}`)] as const)
      .filter(([, value]) => value !== "")
  )

/** The settings of a container with this environment. */
const given = <A>(config: Effect.Effect<A, Config.ConfigError>, environment: typeof Environment.Type) =>
  Effect.provideService(config, ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env: unset(environment) }))

describe("docker-compose.yml", () => {
  it.effect("starts the service once PostgreSQL 17 and the S3 store are healthy", () =>
    Effect.gen(function* () {
      const { garage, inlet, postgres } = (yield* compose).services
      assert.strictEqual(postgres.image, "postgres:17")
      assert.include(postgres.healthcheck.test.join(" "), "pg_isready")
      assert.include(inlet.healthcheck.test.join(" "), "/ready")
      const { POSTGRES_DB, POSTGRES_PASSWORD, POSTGRES_USER } = unset(postgres.environment)
      const { DATABASE_PASSWORD, DATABASE_URL } = unset(inlet.environment)
      assert.strictEqual(DATABASE_URL, `postgres://${POSTGRES_USER}@postgres:5432/${POSTGRES_DB}`)
      assert.strictEqual(DATABASE_PASSWORD, POSTGRES_PASSWORD)
      assert.match(garage.image, /^dxflrs\/garage:v2\.[3-9]\.\d+$/)
      assert.deepStrictEqual(garage.command, ["/garage", "server", "--single-node", "--default-bucket"])
      assert.include(garage.healthcheck.test.join(" "), `bucket info ${garage.environment.GARAGE_DEFAULT_BUCKET}`)
    })
  )

  it.effect("passes the store's bucket, key and region to the service", () =>
    Effect.gen(function* () {
      const { garage, inlet } = (yield* compose).services
      const { kind } = yield* given(Settings.rawStore, inlet.environment)
      const bucket = yield* given(Settings.bucket, inlet.environment)
      assert.strictEqual(kind, "s3")
      assert.deepInclude(yield* garageToml, { s3_api: { s3_region: bucket.region, api_bind_addr: "0.0.0.0:3900" } })
      assert.strictEqual(bucket.endpoint, "http://garage:3900")
      assert.strictEqual(bucket.name, unset(garage.environment).GARAGE_DEFAULT_BUCKET)
      assert.strictEqual(inlet.environment.S3_BUCKET, garage.environment.GARAGE_DEFAULT_BUCKET)
      const { S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY } = inlet.environment
      assert.strictEqual(S3_ACCESS_KEY_ID, garage.environment.GARAGE_DEFAULT_ACCESS_KEY)
      assert.strictEqual(S3_SECRET_ACCESS_KEY, garage.environment.GARAGE_DEFAULT_SECRET_KEY)
      // The formats of Garage's own keys.
      const { GARAGE_DEFAULT_ACCESS_KEY, GARAGE_DEFAULT_SECRET_KEY, GARAGE_RPC_SECRET } = unset(garage.environment)
      assert.match(GARAGE_DEFAULT_ACCESS_KEY ?? "", /^GK[0-9a-f]{24}$/)
      assert.match(GARAGE_DEFAULT_SECRET_KEY ?? "", /^[0-9a-f]{64}$/)
      assert.match(GARAGE_RPC_SECRET ?? "", /^[0-9a-f]{64}$/)
      assert.include(garage.volumes, "./deploy/garage.toml:/etc/garage.toml:ro")
    })
  )

  it.effect("has a trial SECRETS_KEY that production refuses", () =>
    Effect.gen(function* () {
      const { environment } = (yield* compose).services.inlet
      const error = yield* Effect.flip(given(Settings.bucket, { ...environment, NODE_ENV: "production" }))
      assert.match(Settings.explain(error), /^S3_SECRET_ACCESS_KEY: This is the trial secret of docker-compose.yml/)
    })
  )

  it.effect("stores data in named volumes and publishes ports on loopback only", () =>
    Effect.gen(function* () {
      const { services, volumes } = yield* compose
      assert.deepStrictEqual(services.inlet.volumes, ["inlet-data:/data", `\${TLS_DIR:-./deploy/tls}:/tls:ro`])
      assert.deepStrictEqual(services.postgres.volumes, ["postgres-data:/var/lib/postgresql/data"])
      const { data_dir, metadata_dir } = yield* garageToml
      assert.includeMembers([...services.garage.volumes], [`garage-meta:${metadata_dir}`, `garage-data:${data_dir}`])
      assert.deepStrictEqual(Object.keys(volumes), ["inlet-data", "postgres-data", "garage-meta", "garage-data"])
      // The outer ports are configurable. The inner ones are fixed for the health checks and the balancer.
      assert.deepStrictEqual(services.inlet.ports, [
        `\${PUBLISH_HTTP:-127.0.0.1:3000}:3000`,
        `\${PUBLISH_SMTP:-127.0.0.1:2525}:2525`
      ])
      for (const NODE_ENV of ["development", "production"]) {
        const environment = { ...services.inlet.environment, NODE_ENV }
        assert.strictEqual(yield* given(Settings.smtpPort, environment), 2525)
        assert.strictEqual(yield* given(Settings.httpPort, environment), 3000)
      }
    })
  )

  it.effect("runs each role twice when scaled, behind the ports of the balancer", () =>
    Effect.gen(function* () {
      const { balancer, http, inlet, smtp, worker } = (yield* compose).services
      const roles = yield* Effect.forEach([smtp, http, worker], ({ environment }) => given(Settings.roles, environment))
      assert.deepStrictEqual(roles, [["smtp"], ["http"], ["worker"]])
      for (const { environment, volumes } of [smtp, http, worker]) {
        // One database, one bucket, and one folder for development secrets.
        const own = { ROLES: null, SMTP_PROXY_FROM: null, TRUST_PROXY: null }
        assert.deepStrictEqual({ ...environment, ...own }, inlet.environment)
        assert.deepStrictEqual(volumes, inlet.volumes)
      }
      assert.deepStrictEqual(balancer.ports, inlet.ports)
      assert.deepStrictEqual(balancer.volumes, ["./deploy/haproxy.cfg:/usr/local/etc/haproxy/haproxy.cfg:ro"])
    })
  )

  it.effect("trusts only the balancer when scaled", () =>
    Effect.gen(function* () {
      const { http, smtp } = (yield* compose).services
      const { port, proxyFrom } = yield* given(Settings.smtp, smtp.environment)
      const isBalancer = AddressRange.contains(proxyFrom)
      for (const address of ["172.18.0.5", "192.168.16.3", "10.0.9.2"]) assert.isTrue(isBalancer(address))
      for (const address of ["203.0.113.7", "127.0.0.1", "2001:db8::1"]) assert.isFalse(isBalancer(address))
      assert.include(Haproxy.configuration, `smtp:${port}`)
      assert.strictEqual((yield* given(Settings.clients, http.environment)).trustProxy, 1)
      assert.include(Haproxy.configuration, `http:${(yield* given(Settings.http, http.environment)).port}`)
    })
  )

  it.effect("passes every setting to every process, from .env or the environment", () =>
    Effect.gen(function* () {
      const { http, inlet, smtp, worker } = (yield* compose).services
      for (const { environment } of [inlet, smtp, http, worker]) {
        for (const { name } of Settings.documented) assert.property(environment, name)
      }
      // Variables that are not fixed in these files can be set by the user.
      const fixed = Object.entries(inlet.environment).flatMap(([name, value]) =>
        value === null || `${value}`.includes(`\${${name}:-`) ? [] : [name]
      )
      assert.deepStrictEqual(fixed, ["HTTP_HOST", "HTTP_PORT", "METRICS_PORT", "SMTP_HOST", "SMTP_PORT", "DATA_DIR"])
    })
  )

  it.effect("uses existing settings", () =>
    Effect.gen(function* () {
      const known = Settings.documented.map(({ name }) => name)
      const { http, inlet, smtp, worker } = (yield* compose).services
      for (const { environment } of [inlet, smtp, http, worker]) {
        for (const name of Object.keys(environment)) assert.include(known, name)
        yield* given(Settings.all, environment)
      }
    })
  )

  it.live(
    "passes docker compose config",
    () =>
      Effect.gen(function* () {
        const args = ["compose", "--file", "docker-compose.yml", "--profile", "scaled", "config", "--quiet"]
        assert.deepStrictEqual(yield* Program.run("docker", args), { code: 0, stdout: "", stderr: "" })
      }).pipe(Effect.provide(NodeServices.layer)),
    Needs.options(Needs.docker)
  )
})

describe("deploy/haproxy.cfg", () => {
  it.live(
    "passes haproxy -c",
    () =>
      Effect.gen(function* () {
        const { code, stderr } = yield* Haproxy.run("-c", "-f", "deploy/haproxy.cfg")
        assert.strictEqual(stderr, "")
        assert.strictEqual(code, 0)
      }),
    Needs.options(Needs.haproxy)
  )
})

describe("Dockerfile", () => {
  const lines = read("Dockerfile").split("\n")
  const all = (instruction: string) =>
    lines.filter((line) => line.startsWith(`${instruction} `)).map((line) => line.slice(instruction.length + 1))

  it("runs the compiled service on Node 24 with production dependencies, and not as root", () => {
    assert.deepStrictEqual(all("FROM"), ["node:24-slim AS compiled", "node:24-slim"])
    assert.include(all("RUN"), "node scripts/compile.ts --without-types && npm prune --omit=dev --ignore-scripts")
    assert.deepStrictEqual(all("USER"), ["node"])
    assert.deepStrictEqual(all("CMD"), ['["node", "--max-semi-space-size=16", "start.mjs", "start"]'])
    assert.isAbove(
      lines.indexOf("USER node"),
      lines.findLastIndex((line) => line.startsWith("RUN"))
    )
  })

  it("stores its data in a volume and has a health check", () => {
    assert.include(all("ENV").join(" "), "DATA_DIR=/data")
    assert.deepStrictEqual(all("VOLUME"), ["/data"])
    assert.match(read("Dockerfile"), /^HEALTHCHECK [^\n]+\\\n {2}CMD \["node", "-e", ".*\/health`.*"\]$/m)
  })

  it("copies only files that .dockerignore admits", () => {
    const allowed = read(".dockerignore")
      .split("\n")
      .flatMap((line) => (line.startsWith("!") ? [line.slice(1)] : []))
    const copied = all("COPY")
      .filter((line) => !line.startsWith("--from"))
      .flatMap((line) => line.split(" ").slice(0, -1))
    assert.sameMembers([...new Set(copied)], allowed)
  })

  it.live("contains every file for compilation and start", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-image-" })
      // npm is not run: the installed packages are compared.
      const stage = Effect.fnUntraced(function* (name: string, instructions: ReadonlyArray<string>) {
        const cwd = `${folder}/${name}`
        yield* fs.makeDirectory(cwd)
        yield* fs.symlink(`${Program.root}node_modules`, `${cwd}/node_modules`)
        for (const line of instructions.filter((line) => line.startsWith("COPY "))) {
          const [, isCompiled, sources = ""] = /^COPY (--from=compiled )?(.*) \S+$/.exec(line) ?? []
          const from = isCompiled === undefined ? Program.root : `${folder}/compiled/`
          for (const source of sources.replaceAll("/app/", "").split(" ")) {
            if (source !== "node_modules") yield* fs.copy(`${from}${source}`, `${cwd}/${source}`)
          }
        }
        return { cwd }
      })
      const second = lines.lastIndexOf("FROM node:24-slim")
      const compiled = yield* stage("compiled", lines.slice(0, second))
      const compiling = yield* Program.run(process.execPath, ["scripts/compile.ts", "--without-types"], compiled)
      assert.deepStrictEqual([compiling.code, compiling.stderr], [0, ""])
      const image = yield* stage("image", lines.slice(second))
      assert.isFalse(yield* fs.exists(`${image.cwd}/src`))
      const env = { NODE_ENV: "production", DATA_DIR: folder, DATABASE_URL: undefined }
      const { code, stderr } = yield* Program.run(process.execPath, ["start.mjs", "start"], { ...image, env })
      assert.strictEqual(code, 1)
      assert.match(stderr, /^Inlet can't start: DATABASE_URL/m)
    }).pipe(Effect.provide(NodeServices.layer))
  )
})
