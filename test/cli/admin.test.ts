import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, FileSystem, Layer } from "effect"
import * as Ledger from "../../src/operations/Ledger.ts"
import * as CommandLine from "../CommandLine.ts"
import * as ScriptedService from "../client/ScriptedService.ts"
import * as Mail from "../Mail.ts"
import * as Ports from "../Ports.ts"
import type * as Program from "../Program.ts"
import { TestInlet } from "../TestInlet.ts"

const names = "DOMAIN\tORIGIN\tSTATUS\tWEBHOOK\tREASON\n"

/** Runs `inlet …` beside the service, with the token in DATA_DIR/admin-token and the URL of its settings. */
const inlet = Effect.fnUntraced(function* (args: ReadonlyArray<string>, env: Program.Options["env"] = {}) {
  const { folder, url } = yield* TestInlet
  return yield* CommandLine.run(args, { DATA_DIR: folder, HTTP_PORT: new URL(url).port, ...env })
})

layer(Layer.mergeAll(TestInlet.layer(), NodeServices.layer), { excludeTestServices: true })(
  "inlet admin domains",
  (it) => {
    it.effect("reports an empty list on an empty service", () =>
      Effect.gen(function* () {
        const { code, stderr, stdout } = yield* inlet(["admin", "domains", "list"])
        assert.strictEqual(stdout, "")
        assert.strictEqual(stderr, "No domains yet\n")
        assert.strictEqual(code, 0)
      })
    )

    it.effect("lists domains with origin and status, newest first", () =>
      Effect.gen(function* () {
        const service = yield* TestInlet
        const older = yield* service.inbox()
        const { key } = yield* service.workspace
        yield* service.call("POST", "/api/domains", { key, body: { domain: "newer.example" } })
        const workspaceOf = (key: string) =>
          Effect.map(service.call("GET", "/api/workspace", { key }), ({ json }) => `${json.name}\t${json.workspace_id}`)
        const newerRow = `newer.example\tbyo\tpending_verification\t-\t${yield* workspaceOf(key)}\n`
        const olderRow = `${older.domain}\tinstant\tverified\t-\t${yield* workspaceOf(older.key)}\n`

        const { code, stderr, stdout } = yield* inlet(["admin", "domains", "list"])
        assert.strictEqual(
          stdout,
          `DOMAIN\tORIGIN\tSTATUS\tWEBHOOK\tWORKSPACE\tWORKSPACE_ID\tREASON\n${newerRow}${olderRow}`
        )
        assert.strictEqual(stderr, "")
        assert.strictEqual(code, 0)
        const found = yield* inlet(["admin", "domains", "list", "--search", "NEWER", "--limit", "1"])
        assert.strictEqual(found.stdout.split("\n").slice(1).join("\n"), newerRow)
      })
    )

    it.effect("creates a workspace with the operator's token", () =>
      Effect.gen(function* () {
        const service = yield* TestInlet
        const { code, stdout } = yield* inlet(["admin", "workspaces", "create", "a team", "--json"])
        assert.strictEqual(code, 0)
        const { json } = yield* service.call("GET", "/api/workspace", { key: JSON.parse(stdout).api_key })
        assert.strictEqual(json.name, "a team")
      })
    )

    it.effect("lists operational events of all workspaces", () =>
      Effect.gen(function* () {
        const empty = yield* inlet(["admin", "ops-events"])
        assert.deepStrictEqual([empty.code, empty.stdout, empty.stderr], [0, "", "No operational events yet\n"])
        const record = yield* Ledger.make
        yield* record({
          workspaceId: null,
          domainId: null,
          details: {
            type: "certificate.expiring",
            occurred_at: DateTime.makeUnsafe("2026-01-31T12:00:00Z"),
            host: "mx.example.com",
            ends_at: DateTime.makeUnsafe("2026-02-02T12:00:00Z"),
            days_left: 2,
            message: "It ends soon"
          }
        })
        assert.strictEqual(
          (yield* inlet(["admin", "ops-events", "--type", "certificate.expiring"])).stdout,
          "OCCURRED\tTYPE\tDELIVERY\tMESSAGE\n2026-01-31T12:00:00.000Z\tcertificate.expiring\t-\tIt ends soon\n"
        )
      })
    )

    it.effect("lists workspaces, and removes one with --yes", () =>
      Effect.gen(function* () {
        const { workspace } = yield* TestInlet
        const { id } = yield* workspace
        const list = inlet(["admin", "workspaces", "list", "--limit", "1"])
        assert.match(
          (yield* list).stdout,
          new RegExp(`^WORKSPACE_ID\tCREATED\tDOMAINS\tEMAILS_TODAY\tNAME\n${id}\t[^\t]+\t0\t0\t`)
        )
        const unsure = yield* inlet(["admin", "workspaces", "remove", id])
        assert.match(
          unsure.stderr,
          /^Remove the workspace \S+ with its domains and all their mail\? [^\n]*Add --yes\n$/
        )
        const removed = yield* inlet(["admin", "workspaces", "remove", id, "--yes"])
        assert.strictEqual(removed.stdout, `Removed ${id}\n`)
        assert.notInclude((yield* list).stdout, id)
      })
    )

    it.effect("disables a domain, which refuses its mail, and enables it again", () =>
      Effect.gen(function* () {
        const service = yield* TestInlet
        const { address, domain } = yield* service.inbox()

        const disabled = yield* inlet(["admin", "domains", "disable", domain])
        assert.strictEqual(disabled.stdout, `${names}${domain}\tinstant\tdisabled\t-\tdisabled by the operator\n`)
        assert.strictEqual(disabled.code, 0)
        const refused = yield* Effect.flip(Mail.send(service.smtpPort, { to: address }))
        assert.strictEqual(refused.code, 550)

        // The earlier form of the command.
        const enabled = yield* inlet(["admin", "domains", "enable", domain])
        assert.strictEqual(enabled.stdout, `${names}${domain}\tinstant\tverified\t-\n`)
        assert.match(yield* Mail.send(service.smtpPort, { to: address }), /^250 /)
      })
    )

    it.effect("releases a domain from its workspace, and fails in one line for a name without a holder", () =>
      Effect.gen(function* () {
        const service = yield* TestInlet
        const { address, domain } = yield* service.inbox()
        const unsure = yield* inlet(["admin", "domains", "remove", domain])
        assert.match(unsure.stderr, /^Take \S+ from [^\n]+Add --yes\n$/)
        assert.strictEqual(unsure.code, 1)
        const removed = yield* inlet(["admin", "domains", "remove", domain, "--yes"])
        assert.strictEqual(removed.stdout, `${names}${domain}\tinstant\tverified\t-\n`)
        assert.strictEqual(removed.code, 0)
        assert.strictEqual((yield* Effect.flip(Mail.send(service.smtpPort, { to: address }))).code, 550)
        const again = yield* inlet(["admin", "domains", "remove", domain, "--yes"])
        assert.strictEqual(again.stderr, `No workspace holds ${domain}\n`)
        assert.strictEqual(again.code, 1)
      })
    )

    it.effect("exits with 1 and one line for an unknown domain", () =>
      Effect.gen(function* () {
        const unknown = yield* inlet(["admin", "domains", "disable", "unknown.example"])
        assert.strictEqual(unknown.stderr, "No domain unknown.example exists\n")
        assert.strictEqual(unknown.code, 1)

        const noName = yield* inlet(["admin", "domains", "enable", "localhost"])
        assert.match(noName.stderr, /^domain: Expected a name such as example\.com[^\n]+\n$/)
        assert.strictEqual(noName.code, 1)
      })
    )

    it.effect("reads the token from ADMIN_TOKEN and the URL from --url", () =>
      Effect.gen(function* () {
        const { folder, url } = yield* TestInlet
        const fs = yield* FileSystem.FileSystem
        const token = (yield* fs.readFileString(`${folder}/admin-token`)).trim()
        const elsewhere = { DATA_DIR: "/no/such/folder", HTTP_PORT: "1" }

        const { code, stdout } = yield* inlet(["admin", "domains", "list", "--url", url], {
          ...elsewhere,
          ADMIN_TOKEN: token
        })
        assert.match(stdout, /\tinstant\t/)
        assert.strictEqual(code, 0)

        const wrong = yield* inlet(["admin", "domains", "list", "--url", url], { ...elsewhere, ADMIN_TOKEN: "wrong" })
        assert.strictEqual(wrong.stderr, `${url} rejects this ADMIN_TOKEN, or has no admin routes\n`)
        assert.strictEqual(wrong.code, 1)

        const none = yield* inlet(["admin", "domains", "list", "--url", url], elsewhere)
        assert.strictEqual(
          none.stderr,
          "ADMIN_TOKEN: Set it to the service's token, or DATA_DIR to its folder (/no/such/folder has none)\n"
        )
        assert.strictEqual(none.code, 1)
      })
    )

    it.effect("reports an unreachable service in one line", () =>
      Effect.gen(function* () {
        const nowhere = `http://127.0.0.1:${yield* Ports.free}`
        const { code, stderr } = yield* inlet(["admin", "domains", "list", "--url", nowhere])
        assert.match(stderr, /^http:\/\/127\.0\.0\.1:\d+ gave no valid answer \(connect ECONNREFUSED [^\n]+\n$/)
        assert.strictEqual(code, 1)
      })
    )

    it.effect("prints the message of a service that is starting", () =>
      Effect.gen(function* () {
        const message = "The service is starting. Retry in 1 s"
        const starting = yield* ScriptedService.serve({ status: 503, body: { error: message } })
        for (const command of ["admin workspaces list", "workspaces create acme"]) {
          const { code, stderr } = yield* inlet([...command.split(" "), "--url", starting.url])
          assert.strictEqual(stderr, `${message}\n`)
          assert.strictEqual(code, 1)
        }
      })
    )

    it.effect("appears in inlet --help with each of its commands", () =>
      Effect.gen(function* () {
        const help = yield* inlet(["--help"])
        for (const command of ["send", "listen", "wait", "raw", "domains", "admin"]) {
          assert.match(help.stdout, new RegExp(`^  ${command} +[A-Z]`, "m"))
        }
        assert.strictEqual(help.code, 0)

        const unknown = yield* inlet(["bogus"])
        assert.include(unknown.stderr, 'Unknown subcommand "bogus"')
        assert.strictEqual(unknown.code, 1)
      })
    )
  }
)
