import { readFileSync } from "node:fs"
import { NodeServices } from "@effect/platform-node"
import { Effect, FileSystem } from "effect"
import { eventually } from "./Eventually.ts"
import * as Needs from "./Needs.ts"
import * as Ports from "./Ports.ts"
import * as Program from "./Program.ts"

/** The command for HAProxy. Debian's folder for it is not in every PATH. */
const command = (...args: ReadonlyArray<string>) =>
  Effect.as(Needs.demand(Needs.haproxy), [
    "sh",
    ["-c", 'PATH=$PATH:/usr/sbin exec haproxy "$@"', "haproxy", ...args]
  ] as const)

/** Runs HAProxy until it exits. */
export const run = (...args: ReadonlyArray<string>) =>
  Effect.flatMap(command(...args), (haproxy) => Program.run(...haproxy)).pipe(Effect.provide(NodeServices.layer))

/** The configuration in the repository. */
export const configuration = readFileSync(new URL("../deploy/haproxy.cfg", import.meta.url), "utf8")

/** A line of the configuration. Dies if it is missing. */
const replaced = (text: string, line: RegExp, by: string) => {
  if (!line.test(text)) throw new Error(`No line in deploy/haproxy.cfg is ${line}`)
  return text.replace(line, by)
}

/** The servers that replace the containers of a service. */
const servers = (name: string, ports: ReadonlyArray<number>) =>
  ports.map((port, index) => `    server ${name}-${index + 1} 127.0.0.1:${port}`).join("\n")

/** HAProxy with the repository's configuration, in front of these local ports instead of containers. */
export const start = Effect.fnUntraced(
  function* ({ http, smtp }: { readonly http: ReadonlyArray<number>; readonly smtp: ReadonlyArray<number> }) {
    const fs = yield* FileSystem.FileSystem
    const smtpPort = yield* Ports.free
    const httpPort = yield* Ports.free
    const file = yield* fs.makeTempFileScoped({ prefix: "inlet-haproxy-" })
    const changes: ReadonlyArray<readonly [line: RegExp, by: string]> = [
      [/^ {4}bind :2525$/m, `    bind 127.0.0.1:${smtpPort}`],
      [/^ {4}bind :3000$/m, `    bind 127.0.0.1:${httpPort}`],
      [/^ {4}server-template smtp- \d+ smtp:2525$/m, servers("smtp", smtp)],
      [/^ {4}server-template http- \d+ http:3000$/m, servers("http", http)]
    ]
    yield* fs.writeFileString(
      file,
      changes.reduce((text, [line, by]) => replaced(text, line, by), configuration)
    )
    const program = yield* Program.start(...(yield* command("-db", "-f", file)))
    yield* eventually(Ports.isAnswered(smtpPort), (yes) => yes)
    yield* eventually(Ports.isAnswered(httpPort), (yes) => yes)
    return { smtpPort, url: `http://127.0.0.1:${httpPort}`, printed: program.printed }
  },
  Effect.provide(NodeServices.layer),
  Effect.orDie
)
