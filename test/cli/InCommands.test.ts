import { globSync, readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { commands, inCommands } from "../../src/cli/terminal/InCommands.ts"
import * as CommandLine from "../CommandLine.ts"
import * as Program from "../Program.ts"

/** What has messages that a command prints. */
const sources = globSync(
  `${Program.root}src/{delivery,demo,domains,events,health,ingest,model,purchase,simulate,trace,trust,webhooks,workspaces,http/trust,http/events}/**/*.ts`
)

describe("A message of the service on the command line", () => {
  it.each([
    [
      "No workspace has this id. GET /admin/workspaces lists them",
      "No workspace has this id. `inlet admin workspaces list` lists them"
    ],
    ["No domain with this id. GET /api/domains lists them", "No domain with this id. `inlet domains list` lists them"],
    ["Call POST /api/domains/{id}/verify", "Call `inlet domains verify DOMAIN`"],
    ["GET /api/domains/d-1 shows it.", "`inlet domains get d-1` shows it."],
    ["then POST /api/domains/d-1/events/e-1/replay.", "then `inlet replay e-1`."],
    [
      "stop it with DELETE /api/domains/{id}/replays/{replayId}",
      "stop it with `inlet replays stop REPLAY_ID --domain DOMAIN`"
    ],
    ["POST /api/domains/d-1/webhook/test sends a test", "`inlet webhooks test d-1` sends a test"],
    ["GET /api/domains/d-1/webhooks/match?recipient=… names it", "`inlet webhooks match ADDRESS` names it"],
    [
      'PATCH /api/domains/{id}/webhooks/{webhookId} {"action": "pull"} changes that',
      "`inlet webhooks update DOMAIN PATTERN --action pull` changes that"
    ],
    [
      'resume it with PATCH /api/domains/d-1/webhooks/d-1 {"action": "webhook"}',
      "resume it with `inlet webhooks update d-1 d-1 --action webhook`"
    ],
    ['PATCH /api/domains/d-1 {"spam": "tag"} delivers it', "`inlet domains spam d-1 tag` delivers it"],
    [
      'POST /api/domains with {"domain": "one.example"} attaches it again',
      "`inlet domains add one.example` attaches it again"
    ]
  ])("names the command of a route: %s", (message, said) => {
    assert.strictEqual(inCommands(message), said)
  })

  it.each(["GET /api/domains/d-1/refusals lists them", "No route GET /api/domainsx"])(
    "keeps a route without a command: %s",
    (message) => {
      assert.strictEqual(inCommands(message), message)
    }
  )

  it("has a command for every route that a message of the service names, but these", () => {
    const left = sources.flatMap((file) =>
      readFileSync(file, "utf8")
        .split("\n")
        .filter((line) => !/^\s*(?:\/\/|\*|\/\*)|description/.test(line))
        // Values stand in the place of ids.
        .map((line) => inCommands(line.replace(/\$\{(?:[^{}]|\{[^}]*\})*\}/g, "x")))
        .flatMap((line) => line.match(/(?:GET|POST|PATCH|DELETE) (?:\/api|…)\/[\w{}/-]*/g) ?? [])
    )
    assert.deepStrictEqual([...new Set(left)].sort(), [
      // No command asks for these.
      "GET /api/console/sessions",
      "GET /api/domains/x/refusals",
      "POST /api/demo/inbox",
      // A message adds what is done.
      "POST /api/domains/x/events/x/x"
    ])
  })

  it.effect("names only commands that exist", () =>
    Effect.gen(function* () {
      for (const [, command] of commands) {
        const words = command.split(" ").slice(1)
        const names = words.slice(0, words.findIndex((word) => /^(\$|--|https|[A-Z])/.test(word)) >>> 0)
        const help = yield* CommandLine.run([...names, "--help"])
        assert.include(help.stdout, `inlet ${names.join(" ")}`, command)
        const [, flag] = / (--[a-z]+)/.exec(command) ?? []
        if (flag !== undefined) assert.include(help.stdout, flag, command)
      }
    })
  )
})
