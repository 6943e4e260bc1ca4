import { readFileSync } from "node:fs"
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Public from "../../src/testing/TestInlet.ts"
import { eventually } from "../Eventually.ts"
import * as Mail from "../Mail.ts"
import * as Needs from "../Needs.ts"
import * as Program from "../Program.ts"
import { database } from "../TestInlet.ts"
import * as Receivers from "./Receivers.ts"

const page = readFileSync(new URL("../../docs/how-to/coming-from.md", import.meta.url), "utf8")

/** The commands that a reader pastes. */
const commands = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, command = ""]) => command)

const service = Public.TestInlet.layer({
  database,
  settings: { SENDER_CHECKS: "false", WEBHOOK_CHANGES_PER_MINUTE: "0", MAX_EMAILS_PER_DAY: "0" }
})

/** Runs the page's commands for an app as they stand there, but for its host, and sends a mail after each. */
const takesAll = Effect.fnUntraced(function* (host: string, receiver: Effect.Success<typeof Receivers.rails>) {
  const inlet = yield* Public.TestInlet
  const { domain, key } = yield* inlet.inbox()
  const local = new URL(receiver.url).host
  const mine = commands.filter((command) => command.includes(host))
  for (const [index, command] of mine.entries()) {
    const here = command.replace(/https:\/\/([^/\s"]*@)?[^/\s"]+/, (_, login = "") => `http://${login}${local}`)
    const { code, stderr, stdout } = yield* Program.run("sh", ["-c", here], {
      env: {
        DOMAIN: domain,
        SIGNING_KEY: Receivers.signingKey,
        WEBHOOK_KEY: Receivers.mandrillKey,
        PASSWORD: Receivers.password,
        INLET_URL: inlet.url,
        INLET_API_KEY: key
      }
    })
    assert.strictEqual(code, 0, `${here}\n${stdout}\n${stderr}`)
    assert.notInclude(stdout, Receivers.password)
    const to = `mail-${index}@${domain}`
    yield* Mail.send(inlet.smtpPort, { to, subject: command.slice(0, 80).trim() })
    const all = yield* eventually(receiver.all, (records) => records.some(({ recipient }) => recipient === to))
    assert.strictEqual(all.find(({ recipient }) => recipient === to)?.subject, command.slice(0, 80).trim())
  }
  return mine.length
})

describe("The commands of the page for newcomers", () => {
  it.live(
    "set a webhook that Rails with Action Mailbox takes",
    () =>
      Effect.gen(function* () {
        assert.strictEqual(yield* takesAll("rails.example.com", yield* Receivers.rails), 5)
      }).pipe(Effect.provide([service, NodeServices.layer]), Effect.scoped),
    Needs.options(Needs.actionMailbox)
  )

  it.live(
    "set a webhook that Django with Anymail takes",
    () =>
      Effect.gen(function* () {
        assert.strictEqual(yield* takesAll("django.example.com", yield* Receivers.django), 4)
      }).pipe(Effect.provide([service, NodeServices.layer]), Effect.scoped),
    Needs.options(Needs.anymail)
  )

  it("name the settings that the tested apps have", () => {
    const receivers = ["action_mailbox.ru", "anymail_app.py"].map((file) =>
      readFileSync(new URL(`receivers/${file}`, import.meta.url), "utf8")
    )
    const environment = readFileSync(new URL("Receivers.ts", import.meta.url), "utf8")
    const names = [...page.matchAll(/\b([A-Z]+(?:_[A-Z]+)+)(?:=…|"\]|": )/g)].map(([, name = ""]) => name)
    assert.isAbove(names.length, 8)
    for (const name of names) assert.include([...receivers, environment].join(), name)
  })
})
