import { NodeServices } from "@effect/platform-node"
import { Effect, FileSystem } from "effect"
import { DnsServer } from "./DnsServer.ts"
import { eventually } from "./Eventually.ts"
import * as Needs from "./Needs.ts"
import * as Ports from "./Ports.ts"
import * as Program from "./Program.ts"

/** EICAR's test file as a signature of ClamAV, because its own database is a download. */
const signature = `Eicar-Test-Signature:0:*:${Buffer.from("X5O!P%@AP[4\\PZX54(P^)7CC)7}$EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*").toString("hex")}\n`

const clamd = (folder: string, port: number) => `
Foreground yes
TCPAddr 127.0.0.1
TCPSocket ${port}
DatabaseDirectory ${folder}/signatures
`

/** Debian's configuration, with everything that it writes in the folder. */
const rspamd = (folder: string, port: number) => `
.include "$CONFDIR/common.conf"
options {
  pidfile = "${folder}/rspamd.pid";
  .include "$CONFDIR/options.inc"
  .include(priority=10) "${folder}/options.inc"
}
logging { type = "file"; filename = "${folder}/rspamd.log"; level = "warning"; }
worker "normal" { bind_socket = "127.0.0.1:${port}"; count = 1; .include "$CONFDIR/worker-normal.inc" }
`

const options = (folder: string, nameServer: string) => `
# Compiling all 9,600 suffixes and all patterns takes a minute.
url_tld = "${folder}/suffixes";
disable_hyperscan = true;
control_socket = "${folder}/rspamd.sock mode=0600";
dns { nameserver = ["${nameServer}"]; timeout = 5s; }
`

const antivirus = (port: number) => `
clamav {
  type = "clamav";
  symbol = "CLAM_VIRUS";
  servers = "127.0.0.1:${port}";
  # The whole message.
  scan_mime_parts = false;
}
`

/** Debian has both programs in folders that are not in every PATH. */
const program = (name: string, ...args: ReadonlyArray<string>) =>
  Program.start("sh", ["-c", `PATH=$PATH:/usr/sbin:/usr/bin exec ${name} "$@"`, name, ...args])

/** rspamd with ClamAV behind it, on loopback ports, with DNS without any names. Succeeds with the URL of its worker. */
export const start = Effect.gen(function* () {
  yield* Needs.demand(Needs.rspamd)
  const { server } = yield* DnsServer
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-rspamd-" })
  const [port, clamdPort] = [yield* Ports.free, yield* Ports.free]
  yield* Effect.forEach(["signatures", "local.d", "state"], (name) => fs.makeDirectory(`${folder}/${name}`))
  const files: ReadonlyArray<readonly [name: string, text: string]> = [
    ["signatures/eicar.ndb", signature],
    ["suffixes", "com\norg\nnet\nexample\nde\nco.uk\n"],
    ["clamd.conf", clamd(folder, clamdPort)],
    ["rspamd.conf", rspamd(folder, port)],
    ["options.inc", options(folder, server)],
    ["local.d/antivirus.conf", antivirus(clamdPort)],
    // Scores one subject with 0 or 3.33, by the messages that were scanned before.
    ["local.d/chartable.conf", "enabled = false;\n"]
  ]
  yield* Effect.forEach(files, ([name, text]) => fs.writeFileString(`${folder}/${name}`, text))
  yield* program("clamd", "--config-file", `${folder}/clamd.conf`)
  yield* eventually(Ports.isAnswered(clamdPort), (yes) => yes)
  const variables = { DBDIR: "state", RUNDIR: "state", LOGDIR: "state", LOCAL_CONFDIR: "" }
  yield* program(
    "rspamd",
    // In the foreground, and also as root.
    "-f",
    "-i",
    ...["-c", `${folder}/rspamd.conf`],
    ...Object.entries(variables).map(([name, path]) => `--var=${name}=${folder}/${path}`)
  )
  yield* eventually(Ports.isAnswered(port), (yes) => yes)
  return `http://127.0.0.1:${port}`
}).pipe(Effect.provide(NodeServices.layer), Effect.orDie)
