import { writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, FileSystem, Scope } from "effect"
import * as FolderLock from "../../src/database/FolderLock.ts"
import * as StaleSocket from "../StaleSocket.ts"

const folder = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped({ prefix: "inlet-lock-" }))

const contend = Effect.fnUntraced(function* (where: string) {
  const scope = yield* Scope.make()
  const exit = yield* Effect.exit(Scope.provide(FolderLock.hold(where), scope))
  return { scope, exit }
})

const release = ({ scope }: { readonly scope: Scope.Closeable }) => Scope.close(scope, Exit.void)

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
