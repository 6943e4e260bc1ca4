import { subscribe, unsubscribe } from "node:diagnostics_channel"
import { writeFileSync } from "node:fs"
import { createServer, Server } from "node:net"
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, FileSystem, Predicate, Scope } from "effect"
import * as FolderLock from "../../src/database/FolderLock.ts"
import * as StaleSocket from "../StaleSocket.ts"

const folder = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped({ prefix: "inlet-lock-" }))

const contend = Effect.fnUntraced(function* (where: string) {
  const scope = yield* Scope.make()
  const exit = yield* Effect.exit(Scope.provide(FolderLock.hold(where), scope))
  return { scope, exit }
})

const release = ({ scope }: { readonly scope: Scope.Closeable }) => Scope.close(scope, Exit.void)

/** The servers that begin to listen during an effect. */
const listening = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const servers: Array<Server> = []
    const heard = (about: unknown) => {
      if (Predicate.hasProperty(about, "server") && about.server instanceof Server) servers.push(about.server)
    }
    subscribe("tracing:net.server.listen:asyncStart", heard)
    return effect.pipe(
      Effect.map((result) => ({ result, servers })),
      Effect.ensuring(Effect.sync(() => unsubscribe("tracing:net.server.listen:asyncStart", heard)))
    )
  })

describe("The folder lock", () => {
  it.live("has one owner when several processes start after a killed one, and is released again", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const where = yield* folder
      for (let round = 0; round < 25; round++) {
        yield* StaleSocket.leave(`${where}/lock.0000`)
        const all = yield* Effect.replicateEffect(contend(where), 5, { concurrency: "unbounded" })
        const owners = all.filter(({ exit }) => Exit.isSuccess(exit))
        assert.lengthOf(owners, 1, `round ${round}`)
        const late = yield* contend(where)
        assert.isTrue(Exit.isFailure(late.exit))
        yield* Effect.forEach([late, ...all], release)
      }
      assert.deepStrictEqual(yield* fs.readDirectory(where), [])
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live("says that a folder is none, or that its path is too long", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const where = yield* folder
      yield* fs.writeFileString(`${where}/file`, "")
      const long = `${where}/${"a".repeat(100)}`
      yield* fs.makeDirectory(long)
      const refusal = (path: string) => Effect.flip(Effect.scoped(FolderLock.hold(path)))
      assert.strictEqual((yield* refusal(`${where}/file`)).message, `${where}/file is not a folder. Choose another one`)
      assert.match(
        (yield* refusal(long)).message,
        /^The path .* is too long for the lock in it\. Choose one of at most 90/
      )
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live("is not taken from a process that does not answer or is stopped", () =>
    Effect.gen(function* () {
      const where = yield* folder
      for (const [name, answers] of [
        ["lock.zzzz", true],
        ["lock.zzzz", false]
      ] as const) {
        const server = createServer((peer) => {
          peer.on("error", () => undefined)
          if (answers) peer.destroy()
        })
        yield* Effect.callback<void>((resume) => void server.listen(`${where}/${name}`, () => resume(Effect.void)))
        const { exit, scope } = yield* contend(where)
        assert.isTrue(Exit.isFailure(exit), name)
        yield* Scope.close(scope, Exit.void)
        server.close()
      }
      const after = yield* contend(where)
      assert.isTrue(Exit.isSuccess(after.exit))
      yield* release(after)
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live("stays held when connections cannot be accepted, however often", () =>
    Effect.gen(function* () {
      const where = yield* folder
      const { result: held, servers } = yield* listening(contend(where))
      assert.isTrue(Exit.isSuccess(held.exit))
      assert.lengthOf(servers, 1)
      for (let time = 0; time < 2; time++) servers[0]?.emit("error", new Error("accept EMFILE"))
      const late = yield* contend(where)
      assert.isTrue(Exit.isFailure(late.exit))
      yield* Effect.forEach([late, held], release)
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live("is taken in a copied folder with regular files instead of sockets", () =>
    Effect.gen(function* () {
      const where = yield* folder
      writeFileSync(`${where}/lock.aaaa`, "")
      const { exit, scope } = yield* contend(where)
      assert.isTrue(Exit.isSuccess(exit))
      yield* Scope.close(scope, Exit.void)
    }).pipe(Effect.provide(NodeServices.layer))
  )
})
