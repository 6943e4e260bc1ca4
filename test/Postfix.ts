import { NodeServices } from "@effect/platform-node"
import { Effect, FileSystem } from "effect"
import { eventually } from "./Eventually.ts"
import * as Needs from "./Needs.ts"
import * as Ports from "./Ports.ts"
import * as Program from "./Program.ts"

/** TLS to the next server: never, always, or only with a certificate for the name in `Verified`. */
export type Encryption = "none" | "encrypt" | "verify"

/** The name in the certificate of the next server, and the root that confirms it as PEM. */
export interface Verified {
  readonly name: string
  readonly root: string
}

/** A Postfix instance with its own folders, and with these lines in its `main.cf`. Returns the port it listens on. */
export const start = Effect.fnUntraced(
  function* (settings: string, verified?: Verified) {
    yield* Needs.demand(Needs.postfix)
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-postfix-" })
    const port = yield* Ports.free
    const isRoot = (yield* Program.run("id", ["-u"])).stdout.trim() === "0"
    const run = Effect.fnUntraced(function* (command: string, ...args: ReadonlyArray<string>) {
      const [program = "", ...all] = [...(isRoot ? [] : ["sudo", "-n"]), command, ...args]
      const { code, stderr } = yield* Program.run(program, all)
      if (code !== 0) return yield* Effect.die(new Error(`${command} ${args.join(" ")} ended with ${code}: ${stderr}`))
    })

    yield* fs.makeDirectory(`${folder}/config`)
    yield* fs.makeDirectory(`${folder}/queue`)
    yield* fs.makeDirectory(`${folder}/data`)
    if (verified !== undefined) yield* fs.writeFileString(`${folder}/roots.pem`, verified.root)
    yield* fs.writeFileString(
      `${folder}/config/main.cf`,
      `
compatibility_level = 3.6
queue_directory = ${folder}/queue
data_directory = ${folder}/data
command_directory = /usr/sbin
daemon_directory = /usr/lib/postfix/sbin
maillog_file = ${folder}/log
maillog_file_prefixes = ${folder}
myhostname = relay.sender.example
mydestination =
alias_maps =
local_recipient_maps =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
mynetworks = 127.0.0.0/8
smtpd_tls_security_level = none
smtpd_peername_lookup = no
${
  // With an empty file Postfix offers no TLS at all.
  verified === undefined ? "" : `smtp_tls_CAfile = ${folder}/roots.pem`
}
smtp_tls_verify_cert_match = ${verified?.name ?? "hostname"}
disable_dns_lookups = yes
default_transport = error:not for us
${settings}
`
    )
    const services = [
      `127.0.0.1:${port} inet n - n - - smtpd`,
      "cleanup unix n - n - 0 cleanup",
      "qmgr unix n - n 300 1 qmgr",
      "rewrite unix - - n - - trivial-rewrite",
      "bounce unix - - n - 0 bounce",
      "defer unix - - n - 0 bounce",
      "error unix - - n - - error",
      "anvil unix - - n - 1 anvil",
      "scache unix - - n - 1 scache",
      "trace unix - - n - 0 bounce",
      "verify unix - - n - 1 verify",
      "relay unix - - n - - smtp",
      "tlsmgr unix - - n 1000? 1 tlsmgr",
      "postlog unix-dgram n - n - 1 postlogd",
      ...(["none", "encrypt", "verify"] as const).map(
        (how) => `to-${how} unix - - n - - smtp -o smtp_tls_security_level=${how}`
      )
    ]
    yield* fs.writeFileString(`${folder}/config/master.cf`, `${services.join("\n")}\n`)
    yield* fs.chmod(folder, 0o755)
    yield* run("chown", "-R", "root", folder)
    yield* run("chown", "postfix", `${folder}/data`)

    // Its child processes would keep our end of its output open.
    const postfix = (command: string) =>
      run(
        "sh",
        "-c",
        `PATH=$PATH:/usr/sbin; postfix -c ${folder}/config ${command} > ${folder}/output 2>&1 || { cat ${folder}/output >&2; exit 1; }`
      )
    yield* Effect.acquireRelease(postfix("start"), () =>
      Effect.orDie(Effect.andThen(postfix("abort"), run("chown", "-R", `${process.getuid?.() ?? 0}`, folder)))
    )
    yield* eventually(Ports.isAnswered(port), (yes) => yes)
    return port
  },
  Effect.provide(NodeServices.layer),
  Effect.orDie
)

/** Relays mail for each of these addresses to a local port. Returns the port it listens on. */
export const relay = (next: number, addresses: Readonly<Record<string, Encryption>>, verified?: Verified) => {
  const routes = Object.entries(addresses).map(([address, how]) => `{ ${address} = to-${how}:[127.0.0.1]:${next} }`)
  const settings = `
smtpd_relay_restrictions = permit_mynetworks, reject
transport_maps = inline:{ ${routes.join(", ")} }
`
  return start(settings, verified)
}
