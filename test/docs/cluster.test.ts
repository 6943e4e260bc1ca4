import { readdirSync, readFileSync } from "node:fs"
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Cluster } from "@kubernetes-models/cloudnative-pg/postgresql.cnpg.io/v1/Cluster"
import { ConfigProvider, Effect, Redacted, Schema } from "effect"
import { Yaml } from "effect/encoding"
import * as Settings from "../../src/Settings.ts"
import * as Needs from "../Needs.ts"
import * as Program from "../Program.ts"

const folder = "deploy/cluster"
const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8")

const Environment = Schema.Record(Schema.String, Schema.String)
const Node = Schema.Struct({
  build: Schema.Literal("./deploy/cluster"),
  command: Schema.Array(Schema.String),
  environment: Environment,
  volumes: Schema.Array(Schema.String),
  networks: Schema.optionalKey(Schema.Struct({ cluster: Schema.Struct({ ipv4_address: Schema.String }) })),
  network_mode: Schema.optionalKey(Schema.String)
})
const Inlet = Schema.Struct({
  depends_on: Schema.Struct({
    database: Schema.Struct({ condition: Schema.Literal("service_started") }),
    garage: Schema.Struct({ condition: Schema.Literal("service_healthy") })
  }),
  environment: Environment
})
const Compose = Schema.Struct({
  services: Schema.Struct({
    smtp: Inlet,
    http: Inlet,
    worker: Inlet,
    database: Schema.Struct({ image: Schema.String, environment: Environment, volumes: Schema.Array(Schema.String) }),
    etcd1: Node,
    etcd2: Node,
    etcd3: Node,
    node1: Node,
    node2: Node,
    node3: Node
  }),
  volumes: Schema.Record(Schema.String, Schema.Null)
})

const Patroni = Schema.Struct({
  bootstrap: Schema.Struct({
    dcs: Schema.Struct({
      ttl: Schema.Int,
      loop_wait: Schema.Int,
      retry_timeout: Schema.Int,
      synchronous_mode: Schema.Boolean,
      synchronous_mode_strict: Schema.Boolean
    })
  })
})

/** The parser knows no tags. `!override` concerns the merge with docker-compose.yml. */
const yaml = (text: string) => Yaml.parse(text.replaceAll(" !override", ""))

describe("deploy/cluster", () => {
  it("has a Cluster of CloudNativePG that matches its schema and waits for a standby", () => {
    const json = Yaml.parse(read(`${folder}/kubernetes.yaml`))
    // The schema rejects unknown fields.
    const cluster = new Cluster(json as never)
    assert.doesNotThrow(() => cluster.validate())
    assert.strictEqual(cluster.spec?.instances, 3)
    assert.deepInclude(cluster.spec?.postgresql?.synchronous, { number: 1, dataDurability: "required" })
  })

  it("has a lock that Patroni accepts, and strict synchronous replication", () => {
    const { bootstrap } = Schema.decodeUnknownSync(Patroni)(Yaml.parse(read(`${folder}/patroni.yml`)))
    const { loop_wait, retry_timeout, synchronous_mode, synchronous_mode_strict, ttl } = bootstrap.dcs
    assert.isAtLeast(ttl, 20)
    assert.isAtMost(loop_wait + 2 * retry_timeout, ttl)
    assert.deepStrictEqual([synchronous_mode, synchronous_mode_strict], [true, true])
  })

  it.effect("starts three nodes by compose at the addresses that HAProxy and the scripts get", () =>
    Effect.gen(function* () {
      const { services, volumes } = yield* Schema.decodeUnknownEffect(Compose)(yaml(read(`${folder}/compose.yml`)))
      const etcds = [services.etcd1, services.etcd2, services.etcd3]
      const nodes = [services.node1, services.node2, services.node3]
      const addresses = etcds.map(({ networks }) => networks?.cluster.ipv4_address)
      const { environment } = services.database
      assert.deepStrictEqual([environment.NODE1, environment.NODE2, environment.NODE3], addresses)
      const files = readdirSync(new URL(`../../${folder}`, import.meta.url))
      for (const [index, node] of [...etcds, ...nodes].entries()) {
        assert.strictEqual(node.environment.NODES, addresses.join(" "))
        assert.strictEqual(node.environment.NODE, `${(index % 3) + 1}`)
        assert.include(files, node.command[1]?.replace("/cluster/", ""))
        for (const volume of node.volumes) assert.property(volumes, volume.replace(/:.*/, ""))
      }
      assert.deepStrictEqual(
        nodes.map(({ network_mode }) => network_mode),
        ["service:etcd1", "service:etcd2", "service:etcd3"]
      )
      for (const { environment } of [services.smtp, services.http, services.worker]) {
        const { url } = yield* Effect.provideService(
          Settings.database,
          ConfigProvider.ConfigProvider,
          ConfigProvider.fromEnv({ env: environment })
        )
        assert.strictEqual(url === undefined ? url : Redacted.value(url), "postgres://inlet@database:5000/inlet")
      }
    })
  )

  it.live(
    "has a configuration that HAProxy accepts",
    () =>
      Effect.gen(function* () {
        const { code, stderr } = yield* Program.run(
          "sh",
          ["-c", 'PATH=$PATH:/usr/sbin exec haproxy -c -f "$1"', "sh", `${folder}/haproxy.cfg`],
          { env: { LISTEN: "127.0.0.1", NODE1: "10.0.0.1", NODE2: "10.0.0.2", NODE3: "10.0.0.3" } }
        )
        assert.strictEqual(code, 0, stderr)
      }).pipe(Effect.provide(NodeServices.layer)),
    Needs.options(Needs.haproxy)
  )
})
