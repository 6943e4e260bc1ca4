import { homedir } from "node:os"
import { fileURLToPath } from "node:url"
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Logger, Option } from "effect"
import { SqlClient } from "effect/sql"
import * as EmbeddedDatabase from "../../src/database/EmbeddedDatabase.ts"
import * as InitialDatabase from "../../src/database/InitialDatabase.ts"
import * as Tar from "../../src/database/Tar.ts"
import * as Program from "../Program.ts"

/** The image in the repository. Dies if it is missing. */
const image = Effect.gen(function* () {
  const tar = yield* InitialDatabase.image
  if (Option.isSome(tar)) return tar.value
  const version = yield* InitialDatabase.installed
  return yield* Effect.die(
    new Error(`There is no image for PGlite ${version}: run \`npm run image\` and commit the file`)
  )
})

/** The versions of PostgreSQL's control file and catalog. */
const versions = (control: Uint8Array) => {
  const view = new DataView(control.buffer, control.byteOffset)
  return { control: view.getUint32(8, true), catalog: view.getUint32(12, true) }
}

const folder = FileSystem.FileSystem.use((fs) => fs.makeTempDirectoryScoped({ prefix: "inlet-first-" }))

/** The entries of a folder, with the size of each file. */
const listOf = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const names = yield* fs.readDirectory(folder, { recursive: true })
  const entries = yield* Effect.forEach(names, (name) =>
    Effect.map(fs.stat(`${folder}/${name}`), ({ size, type }) => [name, type === "File" ? Number(size) : type] as const)
  )
  return Object.fromEntries(entries)
})

const expected = Effect.map(image, (tar) =>
  Object.fromEntries(
    Tar.entries(tar).map(({ content, isFolder, name }) => [name, isFolder ? "Directory" : content.byteLength])
  )
)

/** Checks that PostgreSQL serves from `folder`. */
const serves = (folder: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    assert.deepStrictEqual(yield* sql`SELECT count(*)::int AS tables FROM pg_tables WHERE schemaname = 'public'`, [
      { tables: 0 }
    ])
  }).pipe(Effect.provide(EmbeddedDatabase.layer(folder)))

/** Runs an effect and returns its log. */
const logged = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const lines: Array<string> = []
    const logger = Logger.make(({ message }) => void lines.push(String(message)))
    return Effect.as(Effect.provide(effect, Logger.layer([logger])), lines)
  })

describe("The image of the embedded database", () => {
  it.live("contains no path of the machine that built it", () =>
    Effect.gen(function* () {
      const tar = Buffer.from(yield* image)
      for (const folder of [homedir(), Program.root, "/home/", "/root/", "/Users/", "inlet-image-"]) {
        assert.isFalse(tar.includes(folder), folder)
      }
    }).pipe(Effect.provide(NodeServices.layer))
  )
})

describe("The first start on the embedded database", () => {
  it.live("unpacks the image with mode 700, and the next start opens the data", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const data = yield* folder
      const files = `${data}/postgres`
      const [making, made, ...others] = yield* logged(
        InitialDatabase.ensure(files, () => Effect.die("There is an image"))
      )
      assert.strictEqual(making, `Making the embedded database in ${files}`)
      assert.match(`${made}`, /^Made the embedded database in \d+ ms$/)
      assert.isEmpty(others)
      assert.deepStrictEqual(yield* listOf(files), yield* expected)
      for (const name of ["base", "PG_VERSION", "global/pg_control"]) {
        const { mode, type } = yield* fs.stat(`${files}/${name}`)
        assert.strictEqual(mode & 0o777, type === "File" ? 0o600 : 0o700, name)
      }
      yield* serves(data)

      const before = yield* listOf(files)
      assert.isEmpty(yield* logged(InitialDatabase.ensure(files, () => Effect.die("There is a database"))))
      assert.deepStrictEqual(yield* listOf(files), before)
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live("frees the unpacked image at once", () =>
    Effect.gen(function* () {
      const tar = yield* image
      yield* InitialDatabase.ensure(
        `${yield* folder}/postgres`,
        () => Effect.die("There is an image"),
        Effect.succeedSome(tar)
      )
      assert.strictEqual(tar.byteLength, 0)
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live("runs initdb without an image for this PGlite, with the same result", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const data = yield* folder
      const files = `${data}/postgres`
      const [making] = yield* logged(InitialDatabase.ensure(files, EmbeddedDatabase.initdb, Effect.succeedNone))
      assert.strictEqual(
        making,
        `Making the embedded database in ${files}. There is no image of it for PGlite ${yield* InitialDatabase.installed} (npm run image), so this takes some seconds`
      )
      yield* serves(data)

      const control = Tar.entries(yield* image).find(({ name }) => name === "global/pg_control")
      assert.deepStrictEqual(
        versions(control?.content ?? new Uint8Array(16)),
        versions(yield* fs.readFile(`${files}/global/pg_control`)),
        "The image has another catalog than the installed PGlite: run `npm run image` and commit the file"
      )
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live("leaves no database or a complete one after kill -9", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const data = yield* folder
      const files = `${data}/postgres`
      const whole = yield* expected
      const start = Program.start(process.execPath, [fileURLToPath(new URL("./FirstStart.ts", import.meta.url)), files])

      const written = Effect.orElseSucceed(fs.readDirectory(`${files}.unfinished`), () => [])
      const isMade = fs.exists(files)
      // Killed at the first file, and while others are written.
      for (const later of [0, 10, 30, 100]) {
        yield* Effect.gen(function* () {
          const first = yield* start
          // `eventually` looks too rarely: unpacking takes about 100 ms.
          yield* Effect.repeat(Effect.delay(written, "1 millis"), { until: (names) => names.length > 0 })
          yield* Effect.sleep(later)
          yield* first.kill("SIGKILL")
          yield* Effect.exit(first.exitCode)
          if (yield* isMade) assert.deepStrictEqual(yield* listOf(files), whole)
          for (const remains of [files, `${files}.unfinished`]) {
            yield* fs.remove(remains, { recursive: true, force: true })
          }
        }).pipe(Effect.scoped)
      }

      // Remains of a start that ended with a torn file.
      yield* fs.makeDirectory(`${files}.unfinished/base/1`, { recursive: true })
      yield* fs.writeFileString(`${files}.unfinished/PG_VERSION`, "")
      yield* fs.writeFileString(`${files}.unfinished/base/1/torn`, "half")
      const next = yield* start
      assert.strictEqual(yield* next.exitCode, 0)
      assert.deepStrictEqual(yield* listOf(files), whole)
      assert.deepStrictEqual(yield* fs.readDirectory(data), ["postgres"])
      yield* serves(data)
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live(
    "refuses a folder with other files, a damaged one or a foreign one, with the error of PostgreSQL and the next step",
    () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const data = yield* folder
        const files = `${data}/postgres`
        yield* fs.makeDirectory(files)
        yield* fs.writeFileString(`${files}/notes.txt`, "mine")
        const other = yield* Effect.flip(serves(data))
        assert.deepStrictEqual(
          [other._tag, other.message],
          ["FolderUnusable", `${files} is not empty and contains no database. Move its files away`]
        )
        assert.strictEqual(yield* fs.readFileString(`${files}/notes.txt`), "mine")

        yield* fs.writeFileString(`${files}/PG_VERSION`, "18\n")
        const foreign = yield* Effect.flip(serves(data))
        assert.strictEqual(foreign._tag, "FolderUnusable")
        assert.match(
          foreign.message,
          /^The database in \S+ can't be opened: .+\. Restore it from a backup, or move it away/
        )

        yield* fs.remove(files, { recursive: true })
        yield* serves(data)
        for (const [file, words] of [
          ["global/pg_control", 'could not read file "global/pg_control": read 0 of 296'],
          ["PG_VERSION", "database files are incompatible with server"]
        ] as const) {
          const whole = yield* fs.readFile(`${files}/${file}`)
          yield* fs.writeFileString(`${files}/${file}`, file === "PG_VERSION" ? "15\n" : "")
          const damaged = yield* Effect.flip(serves(data))
          assert.deepStrictEqual(
            [damaged._tag, damaged.message],
            [
              "FolderUnusable",
              `The database in ${files} can't be opened: ${words}. Restore it from a backup, or move it away to start anew`
            ]
          )
          yield* fs.writeFile(`${files}/${file}`, whole)
        }
        yield* serves(data)
      }).pipe(Effect.provide(NodeServices.layer))
  )
})
