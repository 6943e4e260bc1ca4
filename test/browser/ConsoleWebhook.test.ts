import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Page } from "playwright-core"
import { eventually } from "../Eventually.ts"
import * as Mail from "../Mail.ts"
import * as Needs from "../Needs.ts"
import { TestInlet } from "../TestInlet.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"
import { Browser, step, type Window } from "./Browser.ts"
import { enter } from "./Console.ts"

const visiting = <E, R>(
  steps: (place: Window & { readonly inlet: TestInlet["Service"] }) => Effect.Effect<void, E, R>
) =>
  Effect.gen(function* () {
    const inlet = yield* TestInlet
    const browser = yield* Browser
    yield* browser.visit({}, (window) => steps({ ...window, inlet }))
  })

/** The card with a heading. */
const card = (page: Page, name: string) =>
  page.locator("section.card", { has: page.getByRole("heading", { name, exact: true }) })

describe("A browser", Needs.options(Needs.chromium), () => {
  const World = Layer.mergeAll(
    TestInlet.layer({ WEBHOOK_RETRY_DELAYS: "1h,1h,1h,1h,1h" }),
    Browser.layer,
    WebhookReceiver.layer
  )
  layer(World, { excludeTestServices: true })("The webhook page of the console", (it) => {
    it.effect("says that a catch-all that rejects refuses mail, and so does the guide of the inbox", () =>
      visiting(({ inlet, page }) =>
        Effect.gen(function* () {
          const { domain, domainId, key } = yield* inlet.inbox()
          const path = `/api/domains/${domainId}/webhooks/${domainId}`
          assert.strictEqual((yield* inlet.call("PATCH", path, { key, body: { action: "reject" } })).status, 200)
          yield* enter(page, inlet.url, key, `/console/d/${domainId}/webhook`)
          const health = card(page, "Health of the catch-all")
          yield* step(() => health.getByText("Inlet answers 550 to mail that no other webhook takes.").waitFor())
          yield* step(() => page.goto(`${inlet.url}/console/d/${domainId}/inbox`))
          yield* step(() => page.getByText(`Inlet answers 550 to mail for ${domain} that no webhook takes.`).waitFor())
        })
      )
    )

    it.effect("forgets the result of a test when the webhook gets another URL or format", () =>
      visiting(({ inlet, page }) =>
        Effect.gen(function* () {
          const receiver = yield* WebhookReceiver
          yield* receiver.answerAlways(200)
          const { domainId, key } = yield* inlet.inbox(receiver.url)
          yield* enter(page, inlet.url, key, `/console/d/${domainId}/webhook`)
          const result = card(page, "Test").locator(".test-result")
          const test = step(() => page.getByRole("button", { name: "Send a test" }).click())
          const target = card(page, "URL of the catch-all")
          const change = step(() => target.getByRole("button", { name: "Change" }).click())
          yield* test
          yield* step(() => result.waitFor())
          yield* step(() => target.getByRole("textbox").fill(`${receiver.url}/other`))
          yield* change
          yield* step(() => result.waitFor({ state: "detached" }))
          yield* test
          yield* step(() => result.waitFor())
          yield* step(() => target.getByRole("combobox").selectOption("raw"))
          yield* change
          yield* step(() => result.waitFor({ state: "detached" }))
        })
      )
    )

    it.effect("shows the figures after a replay job when it ends", () =>
      visiting(({ inlet, page }) =>
        Effect.gen(function* () {
          const receiver = yield* WebhookReceiver
          const sql = yield* SqlClient.SqlClient
          yield* receiver.answerAlways(410)
          const { address, domainId, key } = yield* inlet.inbox(receiver.url)
          yield* Mail.send(inlet.smtpPort, { to: address, subject: "given up" })
          yield* eventually(
            sql`SELECT 1 FROM deliveries WHERE domain_id = ${domainId} AND status = 'dead'`,
            (rows) => rows.length === 1
          )
          const answer = Promise.withResolvers<void>()
          yield* receiver.answerAlways((_, response) => void answer.promise.then(() => response.writeHead(200).end()))
          yield* enter(page, inlet.url, key, `/console/d/${domainId}/webhook`)
          yield* step(() => page.getByRole("button", { name: "Deliver again…" }).click())
          yield* step(() => page.getByRole("button", { name: "Deliver 1", exact: true }).click())
          yield* step(() => page.getByText("Running: 0 of 1 delivered").waitFor())
          const health = card(page, "Health of the catch-all")
          const figures = step(() => health.locator("dd").allTextContents())
          yield* eventually(figures, ([success]) => success === "none")
          answer.resolve()
          yield* step(() => page.getByText("Done: 1 of 1 delivered").waitFor())
          yield* eventually(figures, ([success]) => success !== "none", "10 seconds")
        })
      )
    )

    it.effect("shows in an opened mail when its delivery ends", () =>
      visiting(({ inlet, page }) =>
        Effect.gen(function* () {
          const receiver = yield* WebhookReceiver
          const answer = Promise.withResolvers<void>()
          yield* receiver.answerAlways((_, response) => void answer.promise.then(() => response.writeHead(200).end()))
          const { address, domainId, key } = yield* inlet.inbox(receiver.url)
          yield* enter(page, inlet.url, key, `/console/d/${domainId}/inbox`)
          yield* Mail.send(inlet.smtpPort, { to: address, subject: "on its way" })
          yield* step(() => page.locator(".rows").getByText("on its way").click())
          const head = page.locator(".mail-head")
          yield* step(() => head.getByText("pending").waitFor())
          answer.resolve()
          yield* step(() => head.getByText("delivered").waitFor())
        })
      )
    )

    it.effect("asks before it rejects the mail of a webhook that clients pull, and lets them pull again", () =>
      visiting(({ inlet, page }) =>
        Effect.gen(function* () {
          const { domainId, key } = yield* inlet.inbox()
          const path = `/api/domains/${domainId}/webhooks/${domainId}`
          const action = Effect.map(inlet.call("GET", path, { key }), ({ json }) => json.action)
          assert.strictEqual((yield* inlet.call("PATCH", path, { key, body: { action: "pull" } })).status, 200)
          yield* enter(page, inlet.url, key, `/console/d/${domainId}/webhook`)
          const row = page.locator(".webhooks > li")
          yield* step(() => row.locator("summary").first().click())
          yield* step(() => row.getByRole("button", { name: "Reject its mail" }).click())
          yield* step(() => page.getByRole("heading", { name: "Reject mail for *?" }).waitFor())
          yield* step(() => page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click())
          assert.strictEqual(yield* action, "pull")
          yield* step(() => row.getByRole("button", { name: "Reject its mail" }).click())
          yield* step(() => page.getByRole("dialog").getByRole("button", { name: "Reject", exact: true }).click())
          yield* step(() => row.getByText("rejects", { exact: false }).first().waitFor())
          assert.strictEqual(yield* action, "reject")
          yield* step(() => row.getByRole("button", { name: "Let clients lease its mail" }).click())
          yield* step(() => row.getByText("waits for clients", { exact: false }).first().waitFor())
          assert.strictEqual(yield* action, "pull")
        })
      )
    )
  })
})
