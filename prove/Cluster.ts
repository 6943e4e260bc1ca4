import { NodeServices } from "@effect/platform-node"
import { Context, Effect, FileSystem, Layer, Path, Redacted, type Scope } from "effect"
import * as Needs from "../test/Needs.ts"
import * as Ports from "../test/Ports.ts"
import * as Program from "../test/Program.ts"

/** A PostgreSQL server with a password and fsync on, created for the trial and removed with its scope. */
export class Cluster extends Context.Service<
  Cluster,
  {
    readonly url: Redacted.Redacted
    /** Such as `PostgreSQL 15.14`. */
    readonly version: string
    /** Kills the server as in a crash, and starts it again. */
    readonly crash: Effect.Effect<void>
    /** Suspends every process of the server for the lifetime of the scope. */
    readonly frozen: Effect.Effect<void, never, Scope.Scope>
    /** Runs a program of PostgreSQL, such as `pg_dump`, on this server. Returns its output. */
    program(name: string, ...args: ReadonlyArray<string>): Effect.Effect<string>
  }
>()("inlet/prove/Cluster") {
  static readonly layer = Layer.effect(
    Cluster,
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const folder = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-postgres-" })
      const { asOwner, binaries, control, data, password, port, url } = yield* serve(folder)

      const signalAll = Effect.fnUntraced(function* (signal: "SIGSTOP" | "SIGCONT") {
        const [postmaster = ""] = (yield* fs.readFileString(path.join(data, "postmaster.pid"))).split("\n")
        // Suspend the postmaster first, so that it starts no further process.
        yield* send(postmaster, signal)
        const children = yield* run("pgrep", ["-P", postmaster])
        yield* Effect.forEach(children.split("\n"), (child) => send(child, signal))
      }, Effect.orDie)

      return Cluster.of({
        url,
        version: (yield* asOwner("postgres", "--version")).replace(/^.*\(PostgreSQL\) (\S+).*/, "PostgreSQL $1"),
        crash: Effect.asVoid(control("restart", "--mode", "immediate")),
        frozen: Effect.acquireRelease(signalAll("SIGSTOP"), () => signalAll("SIGCONT")),
        program: (name, ...args) =>
          run(path.join(binaries, name), ["--host", "127.0.0.1", "--port", port, "--username", "postgres", ...args], {
            env: { PGPASSWORD: password }
          })
      })
    })
  ).pipe(Layer.provide(NodeServices.layer), Layer.orDie)
}

/**
 * Runs a server in this folder, new or existing, for the lifetime of the scope. `before` is a command in front of it,
 * such as a recorder of system calls, that becomes the server.
 */
export const serve = Effect.fn("Cluster.serve")(function* (folder: string, before: ReadonlyArray<string> = []) {
  yield* Needs.demand(Needs.cluster)
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const binaries = yield* folderOfBinaries
  const isRoot = (yield* run("id", ["-u"])) === "0"
  const port = `${yield* Ports.free}`
  const data = path.join(folder, "data")

  /** PostgreSQL refuses to run as root. */
  const owner = isRoot ? ["runuser", "-u", "postgres", "--"] : []
  const program = (command: ReadonlyArray<string>) => {
    const [first = "", ...others] = command
    return run(first, others, { cwd: folder })
  }
  const asOwner = (name: string, ...args: ReadonlyArray<string>) =>
    program([...owner, path.join(binaries, name), ...args])

  const passwordFile = path.join(folder, "password")
  const isNew = !(yield* fs.exists(passwordFile))
  if (isNew) yield* fs.writeFileString(passwordFile, `password-of-${port}`)
  const password = yield* fs.readFileString(passwordFile)
  if (isRoot) yield* run("chown", ["-R", "postgres", folder])
  if (isNew) {
    yield* asOwner(
      "initdb",
      ...["--pgdata", data, "--username", "postgres", "--auth", "scram-sha-256", "--pwfile", passwordFile],
      ...["--encoding", "UTF8", "--no-locale"]
    )
  }
  yield* fs.writeFileString(
    path.join(data, "postgresql.auto.conf"),
    `listen_addresses = '127.0.0.1'\nport = ${port}\nunix_socket_directories = ''\nfsync = on\nsynchronous_commit = on\n`
  )

  const log = path.join(folder, "log")
  const toControl = ["--pgdata", data, "--log", log, "--wait"]
  const control = (...args: ReadonlyArray<string>) => asOwner("pg_ctl", ...toControl, ...args)
  // A recorder outlives the command and would keep its output open.
  const silently = before.length === 0 ? [] : ["sh", "-c", 'exec "$@" > /dev/null 2>&1', "sh", ...before]
  const start = program([...silently, ...owner, path.join(binaries, "pg_ctl"), ...toControl, "start"]).pipe(
    Effect.tapDefect(() => Effect.flatMap(fs.readFileString(log), (text) => Effect.logError(text.slice(-2_000))))
  )
  yield* Effect.acquireRelease(start, () => Effect.ignore(Effect.sandbox(control("stop", "--mode", "immediate"))))
  return {
    url: Redacted.make(`postgres://postgres:${password}@127.0.0.1:${port}/postgres`),
    asOwner,
    binaries,
    control,
    data,
    password,
    port
  }
})

const run = Effect.fnUntraced(
  function* (command: string, args: ReadonlyArray<string>, options?: Program.Options) {
    const { code, stderr, stdout } = yield* Program.run(command, args, options)
    return code === 0
      ? stdout.trim()
      : yield* Effect.die(new Error(`${command} ${args.join(" ")} ended with ${code}: ${stderr}`))
  },
  Effect.provide(NodeServices.layer),
  Effect.orDie
)

/** Debian has a folder for each version, none of them in PATH. */
const folderOfBinaries = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const versions = yield* fs.readDirectory("/usr/lib/postgresql").pipe(Effect.orElseSucceed((): Array<string> => []))
  const newest = versions.map(Number).sort((one, other) => other - one)[0]
  return newest === undefined ? yield* run("pg_config", ["--bindir"]) : `/usr/lib/postgresql/${newest}/bin`
})

const send = (pid: string, signal: NodeJS.Signals) =>
  // The process may have ended meanwhile.
  Effect.ignore(Effect.try(() => process.kill(Number(pid), signal)))
