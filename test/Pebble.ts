import { request } from "node:https"
import { NodeServices } from "@effect/platform-node"
import { Effect, FileSystem } from "effect"
import { generate } from "selfsigned"
import { eventually } from "./Eventually.ts"
import * as Needs from "./Needs.ts"
import * as Ports from "./Ports.ts"
import * as Program from "./Program.ts"

/** A text from Pebble over TLS with this root. */
const get = (url: string, ca: string) =>
  Effect.callback<string>((resume) => {
    const sent = request(url, { ca }, (response) => {
      let text = ""
      response.on("data", (chunk) => (text += chunk)).on("end", () => resume(Effect.succeed(text)))
    })
    sent.on("error", (error) => resume(Effect.die(error))).end()
  })

/**
 * Pebble, the certificate authority for tests of Let's Encrypt. It asks `nameServer` for hosts, and looks at challenges
 * on `httpPort`. It refuses every third nonce.
 */
export const start = Effect.fnUntraced(
  function* ({ httpPort, nameServer }: { readonly httpPort: number; readonly nameServer: string }) {
    yield* Needs.demand(Needs.pebble)
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-pebble-" })
    const [port, management] = [yield* Ports.free, yield* Ports.free]
    const own = yield* Effect.promise(() =>
      generate([{ name: "commonName", value: "localhost" }], {
        keyType: "ec",
        algorithm: "sha256",
        extensions: [{ name: "subjectAltName", altNames: [{ type: 2, value: "localhost" }] }]
      })
    )
    const caFile = `${folder}/cert.pem`
    yield* fs.writeFileString(caFile, own.cert)
    yield* fs.writeFileString(`${folder}/key.pem`, own.private)
    const pebble = {
      listenAddress: `127.0.0.1:${port}`,
      managementListenAddress: `127.0.0.1:${management}`,
      certificate: caFile,
      privateKey: `${folder}/key.pem`,
      httpPort,
      tlsPort: yield* Ports.free
    }
    yield* fs.writeFileString(`${folder}/config.json`, JSON.stringify({ pebble }))
    yield* Program.start("pebble", ["-strict", "-config", `${folder}/config.json`, "-dnsserver", nameServer], {
      env: { PEBBLE_VA_NOSLEEP: "1", PEBBLE_WFE_NONCEREJECT: "33" }
    })
    yield* eventually(Ports.isAnswered(port), (yes) => yes)
    return {
      directory: `https://localhost:${port}/dir`,
      /** The file with the root of its API. */
      caFile,
      /** The root of the certificates that it issues. */
      root: yield* get(`https://localhost:${management}/roots/0`, own.cert)
    }
  },
  Effect.provide(NodeServices.layer),
  Effect.orDie
)
