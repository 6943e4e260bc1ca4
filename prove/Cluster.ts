import { NodeServices } from "@effect/platform-node"
import { Context, Effect, FileSystem, Layer, Path, Redacted, type Scope } from "effect"
import * as Needs from "../test/Needs.ts"
import * as Ports from "../test/Ports.ts"
import * as Program from "../test/Program.ts"

/** A PostgreSQL server of our own, with a password and with fsync on: made for the occasion, removed with its scope. */
export class Cluster extends Context.Service<
  Cluster,
  {
    readonly url: Redacted.Redacted
    /** Such as `PostgreSQL 15.14`. */
    readonly version: string
    /** Ends it as a crash does, and starts it again. */
    readonly crash: Effect.Effect<void>
    /** Stops every process of it where it stands, for as long as the scope lasts. */
    readonly frozen: Effect.Effect<void, never, Scope.Scope>
    /** Runs one of PostgreSQL's own programs, such as `pg_dump`, on this server; succeeds with what it printed. */
    program(name: string, ...args: ReadonlyArray<string>): Effect.Effect<string>
  }
>()("inlet/prove/Cluster") {
  static readonly layer = Layer.effect(
    Cluster,
    Effect.gen(function* () {
      yield* Needs.demand(Needs.cluster)
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const binaries = yield* folderOfBinaries
      const isRoot = (yield* run("id", ["-u"])) === "0"
      const port = `${yield* Ports.free}`
      const password = `password-of-${port}`
      const folder = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-postgres-" })
      const data = path.join(folder, "data")

      /** PostgreSQL refuses to run as root. */
      const asOwner = (name: string, ...args: ReadonlyArray<string>) =>
        isRoot
          ? run("runuser", ["-u", "postgres", "--", path.join(binaries, name), ...args], { cwd: folder })
          : run(path.join(binaries, name), args, { cwd: folder })

      const passwordFile = path.join(folder, "password")
      yield* fs.writeFileString(passwordFile, password)
      if (isRoot) yield* run("chown", ["-R", "postgres", folder])
      yield* asOwner(
        "initdb",
        ...["--pgdata", data, "--username", "postgres", "--auth", "scram-sha-256", "--pwfile", passwordFile],
        ...["--encoding", "UTF8", "--no-locale"]
      )
      yield* fs.writeFileString(
        path.join(data, "postgresql.auto.conf"),
        `listen_addresses = '127.0.0.1'\nport = ${port}\nunix_socket_directories = ''\nfsync = on\nsynchronous_commit = on\n`
      )

      const control = (...args: ReadonlyArray<string>) =>
        asOwner("pg_ctl", "--pgdata", data, "--log", path.join(folder, "log"), "--wait", ...args)
      yield* Effect.acquireRelease(control("start"), () => control("stop", "--mode", "immediate"))

      const signalAll = Effect.fnUntraced(function* (signal: "SIGSTOP" | "SIGCONT") {
        const [postmaster = ""] = (yield* fs.readFileString(path.join(data, "postmaster.pid"))).split("\n")
        // It goes first: once stopped it starts no process that would be missed.
        yield* send(postmaster, signal)
        const children = yield* run("pgrep", ["-P", postmaster])
        yield* Effect.forEach(children.split("\n"), (child) => send(child, signal))
      }, Effect.orDie)

      return Cluster.of({
        url: Redacted.make(`postgres://postgres:${password}@127.0.0.1:${port}/postgres`),
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

/** Debian keeps a folder for each version, none of them in PATH. */
const folderOfBinaries = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const versions = yield* fs.readDirectory("/usr/lib/postgresql").pipe(Effect.orElseSucceed((): Array<string> => []))
  const newest = versions.map(Number).sort((one, other) => other - one)[0]
  return newest === undefined ? yield* run("pg_config", ["--bindir"]) : `/usr/lib/postgresql/${newest}/bin`
})

const send = (pid: string, signal: NodeJS.Signals) =>
  // It may have ended meanwhile.
  Effect.ignore(Effect.try(() => process.kill(Number(pid), signal)))
