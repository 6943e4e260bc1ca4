import { readFileSync } from "node:fs"
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Console, Effect, Schema } from "effect"
import { Yaml } from "effect/encoding"
import * as Settings from "../../src/Settings.ts"
import * as Program from "../Program.ts"

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8")

const Healthcheck = Schema.Struct({ test: Schema.Array(Schema.String), interval: Schema.String })

const Compose = Schema.Struct({
  services: Schema.Struct({
    inlet: Schema.Struct({
      build: Schema.String,
      depends_on: Schema.Struct({ postgres: Schema.Struct({ condition: Schema.Literal("service_healthy") }) }),
      environment: Schema.Record(Schema.String, Schema.String),
      ports: Schema.Array(Schema.String),
      volumes: Schema.Array(Schema.String),
      healthcheck: Healthcheck,
      stop_grace_period: Schema.String
    }),
    postgres: Schema.Struct({
      image: Schema.String,
      environment: Schema.Record(Schema.String, Schema.String),
      volumes: Schema.Array(Schema.String),
      healthcheck: Healthcheck
    })
  }),
  volumes: Schema.Record(Schema.String, Schema.Null)
})

describe("docker-compose.yml", () => {
  const compose = Effect.suspend(() => Schema.decodeUnknownEffect(Compose)(Yaml.parse(read("docker-compose.yml"))))

  it.effect("starts the service beside PostgreSQL 17, once that is healthy", () =>
    Effect.gen(function* () {
      const { inlet, postgres } = (yield* compose).services
      assert.strictEqual(postgres.image, "postgres:17")
      assert.include(postgres.healthcheck.test.join(" "), "pg_isready")
      assert.include(inlet.healthcheck.test.join(" "), "/ready")
      const { POSTGRES_DB, POSTGRES_PASSWORD, POSTGRES_USER } = postgres.environment
      assert.strictEqual(
        inlet.environment.DATABASE_URL,
        `postgres://${POSTGRES_USER}:${POSTGRES_PASSWORD}@postgres:5432/${POSTGRES_DB}`
      )
    })
  )

  it.effect("keeps what both write in named volumes, and opens its ports to this machine alone", () =>
    Effect.gen(function* () {
      const { services, volumes } = yield* compose
      assert.deepStrictEqual(services.inlet.volumes, ["inlet-data:/data"])
      assert.deepStrictEqual(services.postgres.volumes, ["postgres-data:/var/lib/postgresql/data"])
      assert.deepStrictEqual(Object.keys(volumes), ["inlet-data", "postgres-data"])
      assert.deepStrictEqual(services.inlet.ports, ["127.0.0.1:3000:3000", "127.0.0.1:2525:2525"])
    })
  )

  it.effect("names settings that exist", () =>
    Effect.gen(function* () {
      const known = Settings.documented.map(({ name }) => name)
      for (const name of Object.keys((yield* compose).services.inlet.environment)) assert.include(known, name)
    })
  )

  it.live("is valid to Docker itself, where its compose plugin is at hand", () =>
    Effect.gen(function* () {
      const { code } = yield* Program.run("sh", ["-c", "docker compose version"])
      if (code !== 0) return yield* Console.warn("docker compose is not here: docker-compose.yml was read by us alone")
      const checked = yield* Program.run("docker", ["compose", "--file", "docker-compose.yml", "config", "--quiet"])
      assert.deepStrictEqual(checked, { code: 0, stdout: "", stderr: "" })
    }).pipe(Effect.provide(NodeServices.layer))
  )
})

describe("Dockerfile", () => {
  const lines = read("Dockerfile").split("\n")
  const all = (instruction: string) =>
    lines.filter((line) => line.startsWith(`${instruction} `)).map((line) => line.slice(instruction.length + 1))

  it("runs the sources on Node 24 with production dependencies alone, and not as root", () => {
    assert.deepStrictEqual(all("FROM"), ["node:24-slim AS dependencies", "node:24-slim"])
    assert.include(all("RUN"), "npm ci --omit=dev")
    assert.deepStrictEqual(all("USER"), ["node"])
    assert.deepStrictEqual(all("CMD"), ['["node", "src/main.ts"]'])
    assert.isAbove(
      lines.indexOf("USER node"),
      lines.findLastIndex((line) => line.startsWith("RUN"))
    )
  })

  it("keeps its data in a volume, and is asked for its health", () => {
    assert.include(all("ENV").join(" "), "DATA_DIR=/data")
    assert.deepStrictEqual(all("VOLUME"), ["/data"])
    assert.match(read("Dockerfile"), /^HEALTHCHECK [^\n]+\\\n {2}CMD \["node", "-e", ".*\/health`.*"\]$/m)
  })

  it("copies only what .dockerignore lets through", () => {
    const allowed = read(".dockerignore")
      .split("\n")
      .flatMap((line) => (line.startsWith("!") ? [line.slice(1)] : []))
    const copied = all("COPY")
      .filter((line) => !line.startsWith("--from"))
      .flatMap((line) => line.split(" ").slice(0, -1))
    assert.sameMembers([...new Set(copied)], allowed)
  })
})
