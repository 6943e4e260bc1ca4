import { NodeServices } from "@effect/platform-node"
import { Clock, Context, Effect, Exit, FileSystem, Layer, Option, Path, Redacted, Schema, Scope } from "effect"
import { call } from "../test/ApiCall.ts"
import * as Program from "../test/Program.ts"

/** A machine of PostgreSQL. */
export type Node = 1 | 2 | 3

/** An end of a pair in the network. */
export type Place = Node | "inlet"

export const all: ReadonlyArray<Node> = [1, 2, 3]

const addressOf = (node: Node) => `10.77.0.${node}`

const Members = Schema.Struct({
  members: Schema.Array(Schema.Struct({ name: Schema.String, role: Schema.String, state: Schema.String }))
})

const Followers = Schema.Struct({
  replication: Schema.Array(Schema.Struct({ state: Schema.String, sync_state: Schema.String }))
})

const passwords = {
  SUPERUSER_PASSWORD: "superuser-of-the-trial",
  REPLICATION_PASSWORD: "replication-of-the-trial",
  INLET_PASSWORD: "inlet-of-the-trial"
}

/**
 * Three PostgreSQL servers under Patroni and etcd with HAProxy in front, from the files of deploy/cluster. Each is in a
 * network namespace, and this process is in the one of Inlet.
 */
export class Nodes extends Context.Service<
  Nodes,
  {
    /** Such as `PostgreSQL 15.14, Patroni 3.0.2`. */
    readonly version: string
    /** Makes a database. Returns its URL behind HAProxy. */
    database(name: string): Effect.Effect<Redacted.Redacted>
    /** The server with the lock, by its own word and that of no other. */
    readonly primary: Effect.Effect<Node | undefined>
    /** Waits for a primary other than this one. Returns when it answered, by the clock. */
    primaryAfter(old: Node): Effect.Effect<{ readonly node: Node; readonly at: number }>
    /** The synchronous standby, by the word of the primary. */
    readonly synchronous: Effect.Effect<Node | undefined>
    /** Waits until there is a primary, a synchronous standby and another standby. */
    readonly whole: Effect.Effect<void>
    /** Ends every process of a node with kill -9. */
    kill(node: Node): Effect.Effect<void>
    /** Removes the data directory of PostgreSQL. Returns false if it was not there. */
    removeData(node: Node): Effect.Effect<boolean>
    start(node: Node): Effect.Effect<void>
    signal(node: Node, signal: "SIGSTOP" | "SIGCONT"): Effect.Effect<void>
    /** The states of its processes, as in `/proc/<id>/stat`: `T` is stopped. */
    states(node: Node): Effect.Effect<ReadonlyArray<string>>
    cut(one: Place, other: Place): Effect.Effect<void>
    heal(one: Place, other: Place): Effect.Effect<void>
    /** Whether a server accepts connections from there. */
    reaches(from: Place, to: Node): Effect.Effect<boolean>
    switchover(from: Node, to: Node): Effect.Effect<void>
    /** Writes to a server without HAProxy, and waits for the outcome up to 20 s. Returns what psql printed. */
    write(node: Node, database: string): Effect.Effect<string>
  }
>()("inlet/prove/Nodes") {
  /** `network` is the name given to network.sh. */
  static readonly layer = (network: string) =>
    Layer.effect(Nodes, make(network)).pipe(Layer.provide(NodeServices.layer), Layer.orDie)
}

const make = Effect.fnUntraced(function* (network: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const scope = yield* Effect.scope
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-nodes-" })
  const scripts = path.join(folder, "scripts")
  // The user postgres may not read the checkout.
  yield* fs.copy(path.join(Program.root, "deploy/cluster"), scripts)
  yield* fs.chmod(folder, 0o755)
  yield* fs.makeDirectory(path.join(folder, "nodes"))
  yield* run("chown", ["postgres", path.join(folder, "nodes")])
  yield* run("chmod", ["-R", "a+rX", scripts])

  const lives = new Map<Node, Scope.Closeable>()
  const spaceOf = (place: Place) => `${network}-${place}`
  const within = (place: Place, ...command: ReadonlyArray<string>) => ["netns", "exec", spaceOf(place), ...command]
  const processes = (node: Node) =>
    Effect.map(run("ip", ["netns", "pids", spaceOf(node)]), (text) => text.split("\n").filter((line) => line !== ""))

  const kill = Effect.fnUntraced(function* (node: Node) {
    // A process that starts meanwhile is found the next time.
    yield* Effect.repeat(
      Effect.tap(processes(node), (ids) => Effect.forEach(ids, (id) => send(id, "SIGKILL"))),
      { until: (ids) => ids.length === 0 }
    )
    const life = lives.get(node)
    if (life !== undefined) yield* Scope.close(life, Exit.void)
  })

  const start = Effect.fnUntraced(
    function* (node: Node) {
      const life = yield* Scope.fork(scope)
      lives.set(node, life)
      const env = {
        ...passwords,
        NODE: `${node}`,
        NODES: all.map(addressOf).join(" "),
        FOLDER: path.join(folder, "nodes", `${node}`)
      }
      yield* run("runuser", ["-u", "postgres", "--", "mkdir", "-p", env.FOLDER])
      yield* Effect.forEach(["etcd.sh", "patroni.sh"], (script) =>
        Program.start(
          "ip",
          within(
            node,
            ...["runuser", "-u", "postgres", "--", "sh", "-c", 'exec sh "$1" >> "$2" 2>&1', "sh"],
            ...[path.join(scripts, script), path.join(env.FOLDER, `${script}.log`)]
          ),
          { env, cwd: scripts }
        ).pipe(Scope.provide(life))
      )
    },
    Effect.provide(NodeServices.layer),
    Effect.orDie
  )

  const ask = (node: Node, way: string) =>
    call(`http://${addressOf(node)}:8008`, "GET", way).pipe(
      Effect.timeoutOption("700 millis"),
      Effect.catchDefect(() => Effect.succeed(Option.none()))
    )
  const isPrimary = (node: Node) =>
    Effect.map(ask(node, "/primary"), (answer) => Option.isSome(answer) && answer.value.status === 200)
  const primaries = Effect.map(
    Effect.forEach(all, (node) => Effect.map(isPrimary(node), (yes) => (yes ? [node] : [])), { concurrency: 3 }),
    (found) => found.flat()
  )
  const primary = Effect.map(primaries, ([node]) => node)
  const members = Effect.gen(function* () {
    const node = yield* primary
    if (node === undefined) return []
    const answer = yield* ask(node, "/cluster")
    return Option.match(
      Option.flatMap(answer, ({ json }) => Schema.decodeUnknownOption(Members)(json)),
      { onNone: () => [], onSome: ({ members }) => members }
    )
  })
  const synchronous = Effect.map(members, (found) => {
    const name = found.find(({ role }) => role === "sync_standby")?.name
    return all.find((node) => `node${node}` === name)
  })
  const roles = (found: Effect.Success<typeof members>) =>
    found
      .filter(({ state }) => state === "running" || state === "streaming")
      .map(({ role }) => role)
      .sort()
      .join()

  yield* Effect.forEach(all, start)
  yield* Effect.addFinalizer(() => Effect.forEach(all, kill))
  yield* Program.start(
    "sh",
    ["-c", 'PATH=$PATH:/usr/sbin exec haproxy -db -f "$1"', "sh", path.join(scripts, "haproxy.cfg")],
    {
      env: { LISTEN: "127.0.0.1", NODE1: addressOf(1), NODE2: addressOf(2), NODE3: addressOf(3) }
    }
  )
  /** How the standbys follow the primary. */
  const streams = Effect.gen(function* () {
    const node = yield* primary
    const answer = node === undefined ? Option.none() : yield* ask(node, "/patroni")
    return Option.match(
      Option.flatMap(answer, ({ json }) => Schema.decodeUnknownOption(Followers)(json)),
      {
        onNone: () => "",
        onSome: ({ replication }) =>
          replication
            .flatMap(({ state, sync_state }) => (state === "streaming" ? [sync_state] : []))
            .sort()
            .join()
      }
    )
  })
  /** The last lines of each Patroni. */
  const logs = Effect.map(
    Effect.forEach(all, (node) => fs.readFileString(path.join(folder, "nodes", `${node}`, "patroni.sh.log"))),
    (texts) => texts.map((text, index) => `node${index + 1}:\n${text.split("\n").slice(-25).join("\n")}`).join("\n")
  ).pipe(Effect.orElseSucceed(() => "no logs"))
  const whole = Effect.sleep("500 millis").pipe(
    Effect.andThen(Effect.all([members, streams])),
    // A node that was cut off keeps its role in etcd for a while, so the word of the primary counts too.
    Effect.repeat({
      until: ([found, streams]) => roles(found) === "leader,replica,sync_standby" && streams === "async,sync"
    }),
    Effect.timeoutOrElse({
      duration: "3 minutes",
      orElse: () =>
        Effect.flatMap(Effect.all([members, logs]), ([found, text]) =>
          Effect.die(new Error(`The cluster is not whole after 3 minutes: ${JSON.stringify(found)}\n${text}`))
        )
    }),
    Effect.asVoid
  )
  yield* whole

  const urlOf = (user: string, password: string, place: string, database: string) =>
    `postgres://${user}:${password}@${place}/${database}`
  const link = (what: "cut" | "heal") => (one: Place, other: Place) =>
    Effect.asVoid(run("sh", [path.join(scripts, "network.sh"), what, network, `${one}`, `${other}`]))
  const haproxy = "127.0.0.1:5000"
  const administer = (statement: string) =>
    run("psql", [urlOf("postgres", passwords.SUPERUSER_PASSWORD, haproxy, "postgres"), "-c", statement])

  return Nodes.of({
    version: [
      (yield* run("psql", ["--version"])).replace(/^.*\(PostgreSQL\) (\S+).*/, "PostgreSQL $1"),
      (yield* run("patroni", ["--version"])).replace("patroni", "Patroni"),
      (yield* run("etcd", ["--version"])).replace(/^etcd Version: (\S+)[\s\S]*/, "etcd $1"),
      (yield* run("sh", ["-c", "PATH=$PATH:/usr/sbin haproxy -v"])).replace(
        /^HAProxy version (\d+\.\d+\.\d+)[\s\S]*/,
        "HAProxy $1"
      )
    ].join(", "),
    database: (name) =>
      Effect.as(
        administer(`CREATE DATABASE ${name} OWNER inlet`),
        Redacted.make(urlOf("inlet", passwords.INLET_PASSWORD, haproxy, name))
      ),
    primary,
    primaryAfter: Effect.fnUntraced(
      function* (old) {
        while (true) {
          const node = (yield* primaries).find((node) => node !== old)
          if (node !== undefined) return { node, at: yield* Clock.currentTimeMillis }
          yield* Effect.sleep("200 millis")
        }
      },
      Effect.timeout("150 seconds"),
      Effect.orDie
    ),
    synchronous,
    whole,
    kill,
    removeData: Effect.fnUntraced(function* (node) {
      const data = path.join(folder, "nodes", `${node}`, "data")
      if (!(yield* fs.exists(path.join(data, "PG_VERSION")))) return false
      yield* fs.remove(data, { recursive: true })
      return true
    }, Effect.orDie),
    start,
    signal: (node, signal) =>
      Effect.flatMap(processes(node), (ids) => Effect.forEach(ids, (id) => send(id, signal), { discard: true })),
    states: Effect.fnUntraced(function* (node) {
      const ids = yield* processes(node)
      const states = yield* Effect.forEach(ids, (id) =>
        fs.readFileString(`/proc/${id}/stat`).pipe(
          Effect.map((stat) => stat.replace(/^.*\) (\S).*$/s, "$1")),
          Effect.orElseSucceed(() => "gone")
        )
      )
      return states
    }),
    cut: link("cut"),
    heal: link("heal"),
    reaches: (from, to) =>
      Program.run("ip", within(from, "timeout", "2", "bash", "-c", `: < /dev/tcp/${addressOf(to)}/5432`)).pipe(
        Effect.map(({ code }) => code === 0),
        Effect.provide(NodeServices.layer),
        Effect.orDie
      ),
    switchover: (from, to) =>
      call(`http://${addressOf(from)}:8008`, "POST", "/switchover", {
        body: { leader: `node${from}`, candidate: `node${to}` }
      }).pipe(
        Effect.flatMap(({ status, text }) =>
          status === 200 ? Effect.void : Effect.die(new Error(`The switchover was refused with ${status}: ${text}`))
        )
      ),
    write: (node, database) =>
      Program.run("timeout", [
        "20",
        "psql",
        urlOf("inlet", passwords.INLET_PASSWORD, `${addressOf(node)}:5432`, database),
        "-c",
        "INSERT INTO write_trials (tried_at) VALUES (now()) ON CONFLICT (one_row) DO UPDATE SET tried_at = now()"
      ]).pipe(
        Effect.map(({ stderr, stdout }) => `${stdout}${stderr}`),
        Effect.provide(NodeServices.layer),
        Effect.orDie
      )
  })
})

const run = Effect.fnUntraced(
  function* (command: string, args: ReadonlyArray<string>) {
    const { code, stderr, stdout } = yield* Program.run(command, args)
    return code === 0
      ? stdout.trim()
      : yield* Effect.die(new Error(`${command} ${args.join(" ")} ended with ${code}: ${stderr}`))
  },
  Effect.provide(NodeServices.layer),
  Effect.orDie
)

const send = (id: string, signal: NodeJS.Signals) =>
  // The process may have ended meanwhile.
  Effect.ignore(Effect.try(() => process.kill(Number(id), signal)))
