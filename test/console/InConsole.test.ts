import { globSync, readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { inConsole } from "../../src/console/api/InConsole.ts"
import * as Program from "../Program.ts"

/** What has messages that the console shows. */
const sources = globSync(
  `${Program.root}src/{delivery,domains,events,health,model,operations,retention,trace,trust,webhooks,workspaces,http/trust,http/events}/**/*.ts`
)

describe("A message of the service in the console", () => {
  it.each([
    ["No domain with this id. GET /api/domains lists them", "No domain with this id. The page Domains lists them"],
    ['Set one with PATCH /api/domains/d-1/delivery {"webhookUrl": "https://…"}.', "Set one on the page Webhook."],
    ['resume it with PATCH /api/domains/d-1/webhooks/d-1 {"action": "webhook"}.', "resume it on the page Webhook."],
    ["then call POST /api/domains/d-1/verify", 'then use "Verify" on the page of the domain'],
    ["then POST /api/domains/d-1/events/e-1/replay.", "then the page of the mail."],
    ["PATCH …/delivery, then POST …/replay", "The page Webhook, then the page of the mail"],
    ["POST /api/domains/d-1/webhook/test sends a test", "The test on the page Webhook sends a test"],
    ["GET /api/domains/{id}/health checks the MX record", "The page of the domain checks the MX record"],
    ["GET /api/trace?to=one.example says why", 'The page "Where is my mail?" says why'],
    ["GET …/webhooks/match?recipient=… names it", "The page Webhook names it"],
    ["GET /api/domains/orders/o-1 shows it", "The page Domains shows it"],
    ["Deliver them again with inlet replay --dead", "Deliver them again with inlet replay --dead"]
  ])("names the page of a route: %s", (message, said) => {
    assert.strictEqual(inConsole(message), said)
  })

  it("has a page for every route that a message names, but these", () => {
    const left = sources.flatMap((file) =>
      readFileSync(file, "utf8")
        .split("\n")
        .filter((line) => !/^\s*(?:\/\/|\*|\/\*)|description/.test(line))
        // Values stand in the place of ids.
        .map((line) => inConsole(line.replace(/\$\{(?:[^{}]|\{[^}]*\})*\}/g, "x")))
        .flatMap((line) => line.match(/(?:GET|POST|PATCH|DELETE) (?:\/api|…)\/[\w{}/-]*/g) ?? [])
    )
    assert.deepStrictEqual([...new Set(left)].sort(), ["GET /api/console/sessions"])
  })
})
