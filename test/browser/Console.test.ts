import { assert, describe, layer } from "@effect/vitest"
import axe from "axe-core"
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Locator, Page } from "playwright-core"
import { verifySync } from "../../src/webhook.ts"
import { eventually } from "../Eventually.ts"
import * as InletProcess from "../InletProcess.ts"
import * as Mail from "../Mail.ts"
import * as Mailbox from "../Mailbox.ts"
import * as ManyDomains from "../ManyDomains.ts"
import * as Needs from "../Needs.ts"
import * as Ports from "../Ports.ts"
import { TestInlet } from "../TestInlet.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"
import { Browser, below, overflow, step, textOf, type Window } from "./Browser.ts"
import { enter } from "./Console.ts"
import * as Copies from "./Copies.ts"

const token = "operator-token"

const visiting = <E, R>(
  steps: (place: Window & { readonly inlet: TestInlet["Service"] }) => Effect.Effect<void, E, R>,
  options: Parameters<Browser["Service"]["visit"]>[0] = {}
) =>
  Effect.gen(function* () {
    const inlet = yield* TestInlet
    const browser = yield* Browser
    yield* browser.visit({ permissions: ["clipboard-read", "clipboard-write"], ...options }, (window) =>
      steps({ ...window, inlet })
    )
  })

/** What axe finds on the page, which has its script. */
const violations = (page: Page) =>
  step(() =>
    page.evaluate<ReadonlyArray<string>>(
      "axe.run().then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ': ' + target)))"
    )
  )

const attack = `<img src=x onerror="top.pwned=1"><script>top.pwned=1</script>`

const hostile = {
  from: `"${attack.replaceAll('"', "'")}" <mallory@sender.example>`,
  subject: attack,
  text: `Your code is 482913 ${attack} https://remote.example/verify?token=b7f3c2d19e8a4560`,
  html: `<h1>Words</h1>${attack}<img src="https://remote.example/pixel.png"><iframe src="https://remote.example/"></iframe>`,
  headers: { "X-Attack": attack },
  attachments: [{ filename: `${attack}.txt`, content: "words" }]
}

describe("A browser", Needs.options(Needs.chromium), () => {
  // A retry by itself would come between two steps of a test on a busy machine.
  const settings = { ADMIN_TOKEN: token, WEBHOOK_RETRY_DELAYS: "1h,1h,1h,1h,1h" }
  layer(Layer.mergeAll(TestInlet.layer(settings), Browser.layer, WebhookReceiver.layer), {
    excludeTestServices: true
  })("The console", (it) => {
    it.effect("leads a newcomer from the first page to a signed delivery with the mouse alone, within a minute", () =>
      visiting(({ complaints, inlet, page, requests }) =>
        Effect.gen(function* () {
          const receiver = yield* WebhookReceiver
          const began = yield* Clock.currentTimeMillis
          yield* step(() => page.goto(`${inlet.url}/`))
          yield* step(() => page.getByRole("link", { name: "Console" }).first().click())
          yield* step(() => page.getByRole("button", { name: "Create a workspace" }).click())
          yield* step(() => page.getByText("Save both now").waitFor())
          const [key = "", secret = ""] = yield* step(() => page.locator(".copy-line code").allTextContents())
          assert.match(key, /^ak_live_/)
          yield* step(() => page.getByRole("button", { name: "Copy API key" }).click())
          assert.strictEqual(yield* step(() => page.evaluate<string>("navigator.clipboard.readText()")), key)
          yield* step(() => page.getByRole("button", { name: "I saved them, open the inbox" }).click())

          yield* step(() => page.getByRole("button", { name: "Send a sample mail" }).click())
          yield* step(() => page.getByRole("heading", { name: "Send a mail (done)" }).waitFor())
          yield* step(() => page.getByRole("link", { name: /482913 is your Acme code/ }).waitFor())
          yield* step(() => page.getByRole("link", { name: "Set the webhook" }).click())
          yield* step(() => page.getByLabel("Webhook URL").fill(receiver.url))
          yield* step(() => page.getByRole("button", { name: "Set webhook" }).click())
          yield* step(() => page.getByRole("button", { name: "Send a test" }).click())
          yield* step(() => page.getByText(/200.*after/).waitFor())
          const test = yield* receiver.next
          assert.match(verifySync({ headers: test.headers, rawBody: test.body, secret }).subject, /test code$/)

          // The mail that came before the webhook is held until it is delivered by hand.
          yield* step(() => page.getByRole("link", { name: "Inbox", exact: true }).click())
          yield* step(() => page.getByRole("link", { name: /482913 is your Acme code/ }).click())
          yield* step(() => page.getByRole("tab", { name: "Deliveries" }).click())
          yield* step(() => page.getByRole("button", { name: "Deliver now" }).click())
          yield* step(() => page.getByText("Attempt 1").waitFor())
          const { body, headers } = yield* receiver.next
          assert.strictEqual(verifySync({ headers, rawBody: body, secret }).subject, "482913 is your Acme code")
          assert.isBelow((yield* Clock.currentTimeMillis) - began, 60_000)

          assert.deepStrictEqual(complaints, [])
          assert.isTrue(requests.every((url) => url.startsWith(`${inlet.url}/`)))
          const kept = yield* step(() =>
            page.evaluate<string>("JSON.stringify([localStorage, sessionStorage, document.cookie, location.href])")
          )
          for (const one of [key, secret]) {
            assert.notInclude(kept, one)
            assert.isTrue(requests.every((url) => !url.includes(one)))
          }
        })
      )
    )

    it.effect("shows mail as it comes without a jump of the scroll, in two tabs at once", () =>
      visiting(({ inlet, page }) =>
        Effect.gen(function* () {
          const inbox = yield* inlet.inbox()
          yield* enter(page, inlet.url, inbox.key)
          yield* step(() => page.getByText("Live", { exact: true }).waitFor())
          const other = yield* step(() => page.context().newPage())
          yield* step(() => other.goto(`${inlet.url}/console/d/${inbox.domainId}/inbox`))
          yield* step(() => other.getByText("Live", { exact: true }).waitFor())
          for (let count = 0; count < 20; count++) {
            yield* Mail.send(inlet.smtpPort, { to: inbox.address, subject: `mail ${count}` })
          }
          for (const tab of [page, other]) {
            yield* step(() => tab.getByRole("link", { name: /mail 19/ }).waitFor())
          }
          // A page in the background does not scroll.
          yield* step(() => page.bringToFront())
          const offset = "document.querySelector('.rows').scrollTop"
          yield* step(() => page.evaluate(`${offset} = 500`))
          yield* Mail.send(inlet.smtpPort, { to: inbox.address, subject: "while scrolled" })
          yield* step(() => page.getByRole("button", { name: "1 new" }).waitFor())
          assert.strictEqual(yield* step(() => page.evaluate<number>(offset)), 500)
          assert.match(yield* step(() => page.title()), /^\(1\) /)
          yield* step(() => page.getByRole("button", { name: "1 new" }).click())
          yield* step(() => page.getByRole("link", { name: /while scrolled/ }).waitFor())
        })
      )
    )

    it.effect("follows a burst of mail, and shows the newest one at its end", () =>
      visiting(({ inlet, page }) =>
        Effect.gen(function* () {
          const inbox = yield* inlet.inbox()
          yield* enter(page, inlet.url, inbox.key)
          yield* step(() => page.getByText("Live", { exact: true }).waitFor())
          const path = `/api/domains/${inbox.domainId}`
          const send = (count: number) =>
            inlet.call("POST", `${path}/simulate`, { key: inbox.key, body: { subject: `burst ${count}` } })
          yield* Effect.forEach(
            Array.from({ length: 90 }, (_, count) => count),
            send,
            { concurrency: 10 }
          )
          const list = inlet.call("GET", `${path}/events?view=brief&limit=100`, { key: inbox.key })
          const { json } = yield* eventually(list, ({ json }) => json.events.length === 90)
          yield* step(() => page.getByRole("link", { name: json.events[0].subject }).first().waitFor())
          yield* send(90)
          yield* step(() => page.getByRole("link", { name: "burst 90" }).waitFor())
        })
      )
    )

    it.effect("reopens the stream of an inbox that was hidden and shown during a burst", () =>
      visiting(({ inlet, page }) =>
        Effect.gen(function* () {
          const inbox = yield* inlet.inbox()
          // The burst closes the stream. The tab is hidden and shown again before the console asks for the list. The clock
          // stands, so that the mails come within a second on a busy machine, too.
          yield* step(() =>
            page.addInitScript(`{
              const now = Date.now()
              Date.now = () => now
              const close = EventSource.prototype.close
              const show = (isHidden) => {
                Object.defineProperty(document, "hidden", { value: isHidden, configurable: true })
                document.dispatchEvent(new Event("visibilitychange"))
              }
              EventSource.prototype.close = function () {
                close.call(this)
                EventSource.prototype.close = close
                queueMicrotask(() => {
                  show(true)
                  show(false)
                  window.wasHidden = true
                })
              }
            }`)
          )
          yield* enter(page, inlet.url, inbox.key)
          yield* step(() => page.getByText("Live", { exact: true }).waitFor())
          const send = (subject: string) =>
            inlet.call("POST", `/api/domains/${inbox.domainId}/simulate`, { key: inbox.key, body: { subject } })
          yield* Effect.forEach(
            Array.from({ length: 90 }, (_, count) => `burst ${count}`),
            send,
            { concurrency: 10 }
          )
          yield* eventually(
            step(() => page.evaluate<boolean>("window.wasHidden === true")),
            (wasHidden) => wasHidden
          )
          yield* send("after the burst")
          yield* step(() => page.getByRole("link", { name: "after the burst" }).waitFor())
        })
      )
    )

    it.effect("finds mail by filters that stand in the address, and says when none matches", () =>
      visiting(({ inlet, page }) =>
        Effect.gen(function* () {
          const inbox = yield* inlet.inbox()
          for (const subject of ["Your code is 482913", "Lunch", "Invoice"]) {
            yield* Mail.send(inlet.smtpPort, { to: inbox.address, subject, text: subject })
          }
          const place = `/console/d/${inbox.domainId}/inbox`
          yield* enter(page, inlet.url, inbox.key, `${place}?has=code`)
          const links = page.locator(".row a")
          yield* eventually(
            step(() => links.count()),
            (count) => count === 1
          )
          assert.include(yield* textOf(links), "Your code is 482913")
          yield* step(() => page.getByLabel("Content", { exact: true }).selectOption("With anything"))
          yield* step(() => page.getByRole("searchbox", { name: "Subject contains" }).fill("lunch"))
          yield* step(() => page.waitForURL(/\?subject=lunch$/))
          yield* eventually(
            step(() => links.allTextContents()),
            (texts) => texts.length === 1 && texts.join().includes("Lunch")
          )
          const search = page.getByRole("searchbox", { name: "Subject contains" })
          yield* step(() => search.press("Escape"))
          assert.strictEqual(yield* step(() => search.inputValue()), "lunch")
          yield* step(() => search.fill("nothing"))
          yield* step(() => page.getByRole("link", { name: "Show all mail" }).click())
          yield* eventually(
            step(() => links.count()),
            (count) => count === 3
          )
          assert.strictEqual(yield* step(() => search.inputValue()), "")
          yield* step(() => page.getByText("Filters", { exact: true }).click())
          yield* step(() => page.getByRole("searchbox", { name: "From address" }).fill("sender.ex"))
          yield* step(() => page.waitForURL(/\?from=sender\.ex$/))
          yield* eventually(
            step(() => links.count()),
            (count) => count === 3
          )
        })
      )
    )

    it.effect("says which login and options another URL of a webhook forgets", () =>
      visiting(({ inlet, page }) =>
        Effect.gen(function* () {
          const inbox = yield* inlet.inbox()
          const at = `/api/domains/${inbox.domainId}/delivery`
          const body = { webhookUrl: "http://ada:secret@127.0.0.1:9/inbound", format: "raw" }
          assert.strictEqual((yield* inlet.call("PATCH", at, { key: inbox.key, body })).status, 200)
          yield* enter(page, inlet.url, inbox.key, `/console/d/${inbox.domainId}/webhook`)
          yield* step(() => page.getByText("Requests have a user name and a password").waitFor())
          yield* step(() => page.getByText("to http://127.0.0.1:9/inbound as raw with a login").waitFor())
          const change = (url: string) =>
            Effect.andThen(
              step(() => page.getByLabel("Webhook URL").fill(url)),
              step(() => page.getByRole("button", { name: "Change" }).click())
            )
          const dialog = page.getByRole("dialog", { name: "Change the webhook?" })
          yield* change("http://127.0.0.1:9/other")
          yield* step(() =>
            dialog.getByText("Inlet forgets its user name and password and the options of its requests").waitFor()
          )
          yield* step(() => dialog.getByRole("button", { name: "Cancel" }).click())
          yield* change("http://ada:other@127.0.0.1:9/other")
          yield* step(() => dialog.getByText("Inlet forgets the options of its requests").waitFor())
          yield* step(() => dialog.getByRole("button", { name: "Change" }).click())
          yield* step(() => page.getByText("to http://127.0.0.1:9/other as raw with a login").waitFor())
        })
      )
    )

    it.effect("goes through the inbox by keyboard alone", () =>
      visiting(({ inlet, page }) =>
        Effect.gen(function* () {
          const inbox = yield* inlet.inbox()
          for (const subject of ["first", "second", "third"]) {
            yield* Mail.send(inlet.smtpPort, { to: inbox.address, subject })
            // Mails that are parsed at the same time are listed in any order.
            yield* Mailbox.events(inbox)
          }
          yield* enter(page, inlet.url, inbox.key, `/console/d/${inbox.domainId}/inbox`)
          yield* step(() => page.getByRole("link", { name: /third/ }).waitFor())
          const press = (key: string) => step(() => page.keyboard.press(key))
          const heading = (name: string) => step(() => page.getByRole("heading", { name, exact: true }).waitFor())
          yield* press("j")
          yield* heading("third")
          yield* press("j")
          yield* heading("second")
          yield* press("k")
          yield* heading("third")
          yield* press("Enter")
          assert.strictEqual(yield* step(() => page.evaluate<string>("document.activeElement.id")), "mail")
          yield* step(() => page.goBack())
          // The list has the heading of the page once no mail is open.
          yield* step(() => page.getByRole("heading", { name: "Inbox", level: 1 }).waitFor())
          yield* press("j")
          yield* heading("third")
          yield* press("Escape")
          yield* step(() => page.waitForURL(/\/inbox$/))
          yield* press("/")
          assert.strictEqual(yield* step(() => page.evaluate<string>("document.activeElement.id")), "search")
          yield* press("Escape")
          yield* press("?")
          yield* step(() => page.getByRole("dialog", { name: "Keys" }).waitFor())
          yield* press("Escape")
          yield* step(() => page.getByRole("dialog").waitFor({ state: "detached" }))
        })
      )
    )

    it.effect("shows hostile mail, answers and names as text: nothing runs, and nothing is asked of another host", () =>
      visiting(({ complaints, inlet, page, requests }) =>
        Effect.gen(function* () {
          const receiver = yield* WebhookReceiver
          yield* receiver.answerWith(
            { status: 500, body: attack },
            { status: 302, headers: { location: `https://remote.example/${attack}` } }
          )
          const inbox = yield* inlet.inbox(receiver.url)
          yield* Mail.send(inlet.smtpPort, { to: inbox.address, ...hostile })
          yield* enter(page, inlet.url, inbox.key, `/console/d/${inbox.domainId}/inbox`)
          yield* step(() => page.locator(".row a").first().click())
          yield* step(() => page.getByRole("heading", { name: attack, exact: true }).waitFor())
          for (const tab of ["HTML", "Deliveries", "Headers", "JSON", "Message"]) {
            yield* step(() => page.getByRole("tab", { name: tab, exact: true }).click())
            yield* step(() => page.getByRole("tabpanel").waitFor())
            if (tab === "HTML") {
              yield* step(() => page.frameLocator("iframe").getByRole("heading", { name: "Words" }).waitFor())
            }
            if (tab === "Deliveries") {
              yield* step(() => page.getByText("the webhook answered 500").waitFor())
              yield* step(() => page.getByText("Answer", { exact: true }).click())
            }
          }
          yield* step(() => page.getByRole("link", { name: "Webhook" }).click())
          yield* step(() => page.getByRole("button", { name: "Send a test" }).click())
          yield* step(() => page.locator("main").getByText("Your endpoint redirects to").waitFor())
          yield* step(() =>
            page.goto(`${inlet.url}/console/d/${inbox.domainId}/inbox?subject=${encodeURIComponent(attack)}`)
          )
          yield* step(() => page.locator(".row a").first().waitFor())

          assert.isUndefined(yield* step(() => page.evaluate("window.pwned")))
          assert.deepStrictEqual(
            requests.filter((url) => !url.startsWith(`${inlet.url}/`)),
            []
          )
          assert.deepStrictEqual(complaints, [])
        })
      )
    )

    it.effect("lets a webhook that is down be found, mended and its mail be delivered", () =>
      visiting(({ inlet, page }) =>
        Effect.gen(function* () {
          const receiver = yield* WebhookReceiver
          yield* receiver.answerAlways(500)
          const inbox = yield* inlet.inbox(receiver.url)
          yield* Mail.send(inlet.smtpPort, { to: inbox.address, subject: "important" })
          yield* enter(page, inlet.url, inbox.key, `/console/d/${inbox.domainId}/webhook`)
          yield* eventually(
            Effect.andThen(
              step(() => page.reload()),
              step(() => page.getByText("Last error: the webhook answered 500").isVisible())
            ),
            (isVisible) => isVisible
          )
          yield* step(() => page.locator(".figures").getByRole("link", { name: "1" }).click())
          yield* step(() => page.waitForURL(/\?delivery=pending&webhook=/))
          yield* step(() => page.getByRole("link", { name: /important/ }).click())
          yield* step(() => page.getByRole("tab", { name: "Deliveries" }).click())
          yield* step(() => page.getByText("Next attempt").waitFor())
          yield* receiver.answerAlways(200)
          yield* step(() => page.getByRole("button", { name: "Deliver now" }).click())
          yield* step(() => page.getByText(/^Delivered .* after 2 attempts\.$/).waitFor())
          yield* step(() => page.getByRole("button", { name: "Copy as curl, signed" }).click())
          yield* step(() => page.getByText("Copied, valid for 5 minutes").waitFor())
          const command = yield* step(() => page.evaluate<string>("navigator.clipboard.readText()"))
          assert.match(
            command,
            /^printf %s '\{.*\}' \|\n {2}curl -X POST 'http:\/\/localhost:4000\/' \\\n {2}-H 'Content-Type: application\/json'/
          )
          assert.match(command, /-H 'X-Service-Signature: t=\d+,v1=[0-9a-f]{64}'/)
        })
      )
    )

    it.effect("adds webhooks by address, tells which takes one, tests them and closes the catch-all", () =>
      visiting(({ complaints, inlet, page }) =>
        Effect.gen(function* () {
          const receiver = yield* WebhookReceiver
          yield* receiver.answerAlways(200)
          const inbox = yield* inlet.inbox()
          yield* enter(page, inlet.url, inbox.key, `/console/d/${inbox.domainId}/webhook`)
          const rows = page.locator(".webhooks > li")
          yield* step(() => page.getByText("Add a webhook").click())
          yield* step(() => page.getByLabel("Pattern, such as support or agent-*").fill("agent-*"))
          yield* step(() => page.getByLabel("URL", { exact: true }).fill(receiver.url))
          yield* step(() => page.getByLabel("Sign with a secret of its own").check())
          yield* step(() => page.getByRole("button", { name: "Add", exact: true }).click())
          yield* step(() => page.locator(".copy-line code", { hasText: "whsec_" }).waitFor())
          yield* step(() => rows.nth(1).waitFor())
          assert.deepStrictEqual(yield* step(() => rows.locator(".pattern").allTextContents()), ["agent-*", "*"])

          yield* step(() => page.getByPlaceholder(/^an address before @/).fill("agent-7"))
          yield* step(() => page.getByRole("button", { name: "Which takes it?" }).click())
          yield* step(() => page.getByText("agent-* is more exact than the catch-all").waitFor())

          yield* step(() => rows.first().locator("summary").first().click())
          yield* step(() => rows.first().getByRole("button", { name: "Send a test" }).click())
          yield* step(() => rows.first().getByText("✓ 200").waitFor())

          yield* step(() => rows.last().locator("summary").first().click())
          yield* step(() => rows.last().getByRole("button", { name: "Reject its mail" }).click())
          yield* step(() => page.getByRole("dialog").getByRole("button", { name: "Reject", exact: true }).click())
          yield* step(() =>
            rows
              .last()
              .getByText(/rejects$/)
              .waitFor()
          )
          const { json } = yield* inlet.call("GET", `/api/domains/${inbox.domainId}`, { key: inbox.key })
          assert.strictEqual(json.catch_all, "reject")

          yield* step(() => rows.first().getByRole("button", { name: "Remove" }).click())
          yield* step(() => page.getByRole("dialog").getByRole("button", { name: "Remove" }).click())
          yield* step(() => rows.nth(1).waitFor({ state: "detached" }))
          assert.deepStrictEqual(complaints, [])
        })
      )
    )

    it.effect("posts in the format of another provider, and shows the key that it signs with once", () =>
      visiting(({ complaints, inlet, page }) =>
        Effect.gen(function* () {
          const receiver = yield* WebhookReceiver
          yield* receiver.answerAlways(200)
          const inbox = yield* inlet.inbox(receiver.url)
          yield* enter(page, inlet.url, inbox.key, `/console/d/${inbox.domainId}/webhook`)
          const catchAll = page.locator(".card", { hasText: "URL of the catch-all" })
          const change = catchAll.getByRole("button", { name: "Change" })
          yield* step(() => catchAll.getByLabel("Webhook URL").fill(receiver.url.replace("://", "://user:pass@")))
          yield* step(() => catchAll.getByLabel("Format").selectOption("As Mailgun"))
          yield* step(() => change.click())
          yield* step(() => catchAll.getByText("Set this signing key at the receiver").waitFor())
          assert.match(yield* textOf(catchAll.locator(".copy-line code")), /^\S{16,}$/)
          yield* step(() => catchAll.getByText("Requests have a user name and a password").waitFor())
          assert.isTrue(yield* step(() => change.isDisabled()))

          // The login is shown nowhere, so a change of the format forgets it.
          yield* step(() => catchAll.getByLabel("Format").selectOption("As Postmark"))
          yield* step(() => change.click())
          const dialog = page.getByRole("dialog")
          yield* step(() => dialog.getByText("Inlet forgets its user name and password").waitFor())
          yield* step(() => dialog.getByRole("button", { name: "Change" }).click())
          yield* step(() => dialog.waitFor({ state: "detached" }))
          const { json } = yield* inlet.call("GET", `/api/domains/${inbox.domainId}`, { key: inbox.key })
          assert.deepInclude(json, { webhookUrl: receiver.url, webhookFormat: "postmark", webhookBasicAuth: false })

          yield* step(() => page.getByText("Add a webhook").click())
          yield* step(() => page.getByLabel("Pattern, such as support or agent-*").fill("support"))
          yield* step(() => page.getByLabel("URL", { exact: true }).fill(receiver.url))
          const added = page.locator(".narrow-form")
          yield* step(() => added.getByLabel("Format").selectOption("As SendGrid"))
          yield* step(() => added.getByRole("button", { name: "Add", exact: true }).click())
          yield* step(() => page.locator(".webhooks > li", { hasText: "as sendgrid" }).waitFor())
          assert.deepStrictEqual(complaints, [])
        })
      )
    )

    it.effect("offers another try while the service is away, and says which filter it does not know", () =>
      visiting(({ inlet, page }) =>
        Effect.gen(function* () {
          const inbox = yield* inlet.inbox()
          yield* enter(page, inlet.url, inbox.key, `/console/d/${inbox.domainId}/inbox`)
          yield* step(() => page.route("**/api/**", (route) => route.abort()))
          for (const path of [`/console/d/${inbox.domainId}/webhook`, "/console/keys"]) {
            yield* step(() => page.unroute("**/api/**"))
            yield* step(() => page.goto(`${inlet.url}/console/trace`))
            yield* step(() => page.getByLabel("From").waitFor())
            yield* step(() => page.route("**/api/**", (route) => route.abort()))
            yield* step(() => page.locator(`nav a[href="${path}"]`).first().click())
            yield* step(() => page.getByRole("alert").filter({ hasText: "does not answer" }).first().waitFor())
            yield* step(() => page.unroute("**/api/**"))
            yield* step(() => page.getByRole("button", { name: "Retry" }).first().click())
            yield* step(() => page.locator(".card").first().waitFor())
            yield* step(() => page.getByRole("alert").first().waitFor({ state: "detached" }))
          }
          yield* step(() => page.route("**/api/**", (route) => route.abort()))
          yield* step(() => page.reload())
          yield* step(() => page.getByRole("alert").filter({ hasText: "does not answer" }).waitFor())
          yield* step(() => page.unroute("**/api/**"))
          yield* step(() => page.getByRole("button", { name: "Retry" }).click())
          yield* step(() => page.locator("nav").first().waitFor())

          yield* step(() => page.goto(`${inlet.url}/console/d/${inbox.domainId}/inbox?kind=foo`))
          yield* step(() => page.getByRole("alert").filter({ hasText: "kind: Expected" }).waitFor())
          yield* step(() => page.locator(".state", { hasText: "Not live" }).waitFor())
        })
      )
    )

    it.effect("keeps webhooks and their buttons in place while their figures load", () =>
      visiting(({ inlet, page }) =>
        Effect.gen(function* () {
          const inbox = yield* inlet.inbox()
          const held = { domain: Promise.withResolvers<void>(), webhook: Promise.withResolvers<void>() }
          yield* step(() =>
            page.route("**/webhook/health", (route) => held.domain.promise.then(() => route.continue()))
          )
          yield* step(() =>
            page.route("**/webhooks/*/health", (route) => held.webhook.promise.then(() => route.continue()))
          )
          const loaded = page.waitForResponse(/\/api\/domains\/[\w-]+$/)
          yield* enter(page, inlet.url, inbox.key, `/console/d/${inbox.domainId}/webhook`)
          yield* step(() => loaded.then((response) => response.finished()))
          const row = page.locator(".webhooks > li").last()
          // They appear together with the health card above them.
          assert.isNull(yield* step(() => row.boundingBox({ timeout: 1_000 }).catch(() => null)))
          held.domain.resolve()
          yield* step(() => row.locator("summary").first().click())
          const button = row.getByRole("button", { name: "Reject its mail" })
          const before = yield* step(() => button.boundingBox())
          held.webhook.resolve()
          yield* step(() => row.getByText("0 attempts in 24 h").waitFor())
          assert.deepStrictEqual(yield* step(() => button.boundingBox()), before)
        })
      )
    )

    it.effect("shows in the list of webhooks what other parts of the page changed, and keeps an open row", () =>
      visiting(({ inlet, page }) =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const inbox = yield* inlet.inbox("http://127.0.0.1:9/")
          yield* sql`
            UPDATE webhooks SET failing_since = now() - interval '5 days', paused_at = now(),
              probe_at = now() + interval '1 hour'
            WHERE id = ${inbox.domainId}
          `
          yield* enter(page, inlet.url, inbox.key, `/console/d/${inbox.domainId}/webhook`)
          const row = page.locator(".webhooks > li").last()
          yield* step(() => row.getByText("paused").waitFor())
          yield* step(() => row.locator("summary").first().click())
          yield* step(() => page.getByRole("button", { name: "Resume" }).click())
          yield* step(() => row.getByText("paused").waitFor({ state: "detached" }))
          yield* step(() => page.getByLabel("Format").last().selectOption("postmark"))
          yield* step(() => page.getByRole("button", { name: "Change", exact: true }).click())
          yield* step(() => row.getByText("as postmark").waitFor())
          yield* step(() => row.getByText("0 attempts in 24 h").waitFor())
        })
      )
    )

    it.effect("answers where a mail is by sender and recipient, also of a refused one", () =>
      visiting(({ complaints, inlet, page }) =>
        Effect.gen(function* () {
          const receiver = yield* WebhookReceiver
          yield* receiver.answerAlways(302)
          const inbox = yield* inlet.inbox(receiver.url)
          yield* Mail.send(inlet.smtpPort, { to: inbox.address, subject: attack })
          yield* Effect.flip(
            Mail.send(inlet.smtpPort, { to: inbox.address, subject: "heavy", text: "x".repeat(1_100_000) })
          )
          yield* enter(page, inlet.url, inbox.key)
          yield* step(() => page.getByRole("link", { name: "Where is my mail?" }).click())
          yield* step(() => page.getByLabel("From").fill("sender@sender.example"))
          yield* step(() => page.getByLabel("To", { exact: true }).fill(inbox.address))
          yield* step(() => page.keyboard.press("Enter"))
          yield* step(() => page.waitForURL(/\/console\/trace\?from=.*&to=/))
          const refused = page.locator("details", { hasText: "heavy" })
          yield* eventually(
            Effect.andThen(
              step(() => page.reload()),
              Effect.andThen(
                step(() => page.locator(".traced").first().waitFor()),
                step(() => refused.count())
              )
            ),
            (count) => count === 1
          )
          assert.match(yield* textOf(refused.locator(".problem")), /exceeds the size limit/)
          const failing = page.locator("details", { hasText: attack })
          yield* step(() => failing.locator("summary").click())
          assert.match(yield* textOf(failing.locator(".problem")), /Inlet follows no redirects/)
          yield* step(() => failing.getByText(/Attempt 1 to .*: 302 after/).waitFor())
          yield* step(() => failing.getByRole("link", { name: "Open the mail" }).click())
          yield* step(() => page.waitForURL(/\/mail\//))
          yield* step(() => page.getByRole("link", { name: "Refused mail" }).click())
          yield* step(() =>
            page
              .getByRole("listitem")
              .filter({ hasText: /too large .* heavy/ })
              .waitFor()
          )
          yield* step(() => page.goto(`${inlet.url}/console/trace?to=nobody@elsewhere.example`))
          yield* step(() =>
            page.locator("p.empty", { hasText: /No domain of this workspace takes mail for/ }).waitFor()
          )
          yield* receiver.answerAlways(200)
          assert.deepStrictEqual(complaints, [])
        })
      )
    )

    it.effect("delivers all dead letters again after a count, and shows the progress", () =>
      visiting(({ complaints, inlet, page }) =>
        Effect.gen(function* () {
          const receiver = yield* WebhookReceiver
          const sql = yield* SqlClient.SqlClient
          yield* receiver.answerAlways(410)
          const inbox = yield* inlet.inbox(receiver.url)
          yield* Mail.send(inlet.smtpPort, { to: inbox.address, subject: "given up" })
          yield* eventually(
            sql`SELECT 1 FROM deliveries WHERE domain_id = ${inbox.domainId} AND status = 'dead'`,
            (rows) => rows.length === 1
          )
          yield* receiver.answerAlways(200)
          // A job waits between the deliveries of a webhook that failed last.
          yield* Mail.send(inlet.smtpPort, { to: inbox.address, subject: "delivered" })
          yield* eventually(
            sql`SELECT 1 FROM deliveries WHERE domain_id = ${inbox.domainId} AND status = 'delivered'`,
            (rows) => rows.length === 1
          )
          yield* enter(page, inlet.url, inbox.key, `/console/d/${inbox.domainId}/webhook`)
          const count = Promise.withResolvers<void>()
          const posted: Array<unknown> = []
          yield* step(() =>
            page.route("**/replays", (route) => {
              if (route.request().method() === "POST") posted.push(route.request().postDataJSON())
              return count.promise.then(() => route.continue())
            })
          )
          const time = page.getByRole("combobox", { name: "Of which time" })
          yield* step(() => time.selectOption("Of the last 7 days"))
          yield* step(() => page.getByRole("button", { name: "Deliver again…" }).click())
          yield* eventually(
            Effect.sync(() => posted.length),
            (length) => length === 1
          )
          assert.isTrue(yield* step(() => time.isDisabled()))
          assert.isTrue(yield* step(() => page.getByRole("combobox", { name: "Which mail" }).isDisabled()))
          count.resolve()
          yield* step(() => page.getByRole("heading", { name: "Deliver 1 event again?" }).waitFor())
          yield* step(() => page.getByRole("button", { name: "Deliver 1", exact: true }).click())
          yield* step(() => page.getByText("Done: 1 of 1 delivered").waitFor())
          // What was counted is delivered, to the millisecond.
          const [counted, started] = posted
          assert.deepStrictEqual(counted, { ...Object(started), dry_run: true })
          assert.deepStrictEqual(complaints, [])
        })
      )
    )

    it.effect("shows a read key the mail and no control that changes anything", () =>
      visiting(({ complaints, inlet, page }) =>
        Effect.gen(function* () {
          const inbox = yield* inlet.inbox()
          yield* Mail.send(inlet.smtpPort, { to: inbox.address, subject: "readable" })
          const { json } = yield* inlet.call("POST", "/api/workspaces/keys", {
            key: inbox.key,
            body: { scope: "read" }
          })
          yield* enter(page, inlet.url, json.api_key)
          yield* step(() => page.getByRole("link", { name: /readable/ }).click())
          yield* step(() => page.getByRole("tab", { name: "Deliveries" }).click())
          yield* step(() => page.getByText("A read key does not see the attempts.").waitFor())
          for (const path of ["inbox", "refused", "webhook", "statistics"]) {
            yield* step(() => page.goto(`${inlet.url}/console/d/${inbox.domainId}/${path}`))
            yield* step(() => page.getByRole("heading", { level: 1 }).waitFor())
          }
          for (const path of ["domains", "keys", `domains/${inbox.domainId}`]) {
            yield* step(() => page.goto(`${inlet.url}/console/${path}`))
            yield* step(() => page.getByRole("heading", { level: 1 }).waitFor())
            const buttons = yield* step(() => page.locator("main button").allTextContents())
            assert.deepStrictEqual(
              buttons.filter((words) => words !== "Copy" && words !== "Check again"),
              [],
              path
            )
          }
          assert.deepStrictEqual(complaints, [])
        })
      )
    )

    it.effect("shows the operator the service, and disables and enables a domain", () =>
      visiting(({ complaints, inlet, page }) =>
        Effect.gen(function* () {
          const inbox = yield* inlet.inbox()
          yield* enter(page, inlet.url, token)
          yield* step(() => page.getByText("ADMIN_TOKEN").waitFor())
          assert.notInclude(yield* textOf(page.locator("main")), token)
          yield* step(() => page.getByRole("link", { name: "All domains" }).click())
          yield* step(() => page.getByRole("searchbox").fill(inbox.domain))
          const row = page.getByRole("row").filter({ hasText: inbox.domain })
          yield* step(() => row.getByRole("button", { name: "Disable" }).click())
          yield* step(() => page.getByRole("dialog").getByRole("button", { name: "Disable" }).click())
          yield* step(() => row.getByRole("cell", { name: "disabled" }).waitFor())
          assert.match(yield* inlet.send({ to: inbox.address }), /^550/)
          yield* step(() => row.getByRole("button", { name: "Enable" }).click())
          yield* step(() => row.getByRole("cell", { name: "ready" }).waitFor())
          yield* step(() => page.getByRole("link", { name: "Workspaces" }).click())
          yield* step(() => page.getByRole("cell", { name: "test", exact: true }).first().waitFor())
          assert.deepStrictEqual(complaints, [])
        })
      )
    )

    it.effect("shows a row as a list on a phone, with its buttons below the values", () =>
      visiting(({ inlet, page }) =>
        Effect.gen(function* () {
          const inbox = yield* inlet.inbox()
          yield* step(() => page.setViewportSize({ width: 390, height: 844 }))
          yield* enter(page, inlet.url, token)
          yield* step(() => page.goto(`${inlet.url}/console/operator/domains`))
          yield* step(() => page.getByRole("searchbox").fill(inbox.domain))
          const rows = page.locator("main tbody tr")
          // The row moves when those of other domains go.
          yield* eventually(
            step(() => rows.count()),
            (count) => count === 1
          )
          const row = rows.filter({ hasText: inbox.domain })
          const boxOf = (place: Locator) => step(() => place.boundingBox()).pipe(Effect.flatMap(Effect.fromNullishOr))
          const workspace = yield* boxOf(row.getByText("test", { exact: true }))
          const button = yield* boxOf(row.getByRole("button", { name: "Disable" }))
          assert.isAtLeast(button.y, workspace.y + workspace.height)
          assert.isAtMost(button.x + button.width, 390)
          const labels = yield* step(() =>
            page.evaluate<ReadonlyArray<string>>(
              "[...document.querySelectorAll('tbody tr:first-child [data-head]')].map((cell) => getComputedStyle(cell, '::before').content)"
            )
          )
          assert.deepStrictEqual(labels, ["none", '"Status"', '"Origin"', '"Workspace"', '"Added"'])
        })
      )
    )

    it.effect("finds one of many domains, and shows older ones", () =>
      visiting(({ complaints, inlet, page }) =>
        Effect.gen(function* () {
          const { key, name } = yield* ManyDomains.workspaceWith(130)
          yield* enter(page, inlet.url, key)
          const choice = page.getByRole("combobox", { name: "Domain" })
          yield* step(() => choice.selectOption("Search all domains…"))
          const rows = page.locator("main tbody tr")
          yield* step(() => page.getByRole("link", { name: `31.${name}`, exact: true }).waitFor())
          yield* step(() => page.getByRole("button", { name: "Show more" }).click())
          yield* step(() => page.getByRole("link", { name: `1.${name}`, exact: true }).waitFor())
          assert.strictEqual(yield* step(() => rows.count()), 130)
          yield* step(() => page.getByRole("searchbox", { name: "Domain contains" }).fill(` 17.${name}`))
          yield* step(() => page.getByRole("row", { name: `117.${name}` }).waitFor())
          yield* eventually(
            step(() => rows.count()),
            (count) => count === 2
          )
          yield* step(() =>
            page
              .getByRole("row", { name: new RegExp(`^17\\.${name}`) })
              .getByText("Inbox")
              .click()
          )
          // It isn't among the newest ones.
          yield* step(() => page.waitForURL(/\/inbox$/))
          const option = page.getByRole("option", { name: `17.${name}`, exact: true })
          yield* step(() => option.waitFor({ state: "attached" }))
          assert.strictEqual(yield* step(() => choice.inputValue()), yield* step(() => option.getAttribute("value")))
          yield* step(() => page.getByText("No mail yet.").waitFor())
          assert.deepStrictEqual(complaints, [])
        })
      )
    )

    it.effect("signs in with a link of the command line, and out again", () =>
      visiting(({ inlet, page, requests }) =>
        Effect.gen(function* () {
          const { key } = yield* inlet.inbox()
          const { json } = yield* inlet.call("POST", "/api/console/links", { key })
          const { hash } = new URL(json.url)
          yield* step(() => page.goto(`${inlet.url}/console/sign-in${hash}`))
          yield* step(() => page.getByRole("button", { name: "Sign in with this link" }).click())
          yield* step(() => page.waitForURL(/\/inbox$/))
          assert.isTrue(requests.every((url) => !url.includes(hash.replace("#link=", "")) || url.includes("#")))
          yield* step(() => page.getByRole("button", { name: "Sign out" }).click())
          yield* step(() => page.getByRole("heading", { name: "Sign in" }).waitFor())
          yield* step(() => page.goBack())
          yield* step(() => page.getByRole("heading", { name: "Sign in" }).waitFor())
        })
      )
    )

    it.effect("signs in with a link that is opened in a tab with the sign-in page", () =>
      visiting(({ inlet, page }) =>
        Effect.gen(function* () {
          const { key } = yield* inlet.inbox()
          const { json } = yield* inlet.call("POST", "/api/console/links", { key })
          const { hash } = new URL(json.url)
          yield* step(() => page.goto(`${inlet.url}/console/sign-in`))
          yield* step(() => page.getByRole("heading", { name: "With a key" }).waitFor())
          yield* step(() => page.goto(`${inlet.url}/console/sign-in${hash}`))
          const button = page.getByRole("button", { name: "Sign in with this link" })
          yield* step(() => button.waitFor({ timeout: 10_000 }))
          assert.strictEqual(page.url(), `${inlet.url}/console/sign-in`)
          yield* step(() => button.click())
          yield* step(() => page.waitForURL(/\/inbox$/))
        })
      )
    )

    it.effect("says why it asks to sign in again after the key was replaced elsewhere", () =>
      visiting(({ inlet, page }) =>
        Effect.gen(function* () {
          const { key } = yield* inlet.inbox()
          yield* inlet.call("POST", "/api/workspaces/keys", { key, body: { scope: "read", name: "agent" } })
          yield* enter(page, inlet.url, key, "/console/keys")
          // A list of this page that is answered only after the change would end the session before the click.
          yield* step(() => page.getByRole("cell", { name: "agent", exact: true }).waitFor())
          yield* step(() => page.getByRole("cell", { name: "this one" }).waitFor())
          yield* step(() => page.getByRole("button", { name: "Replace the key" }).waitFor())
          yield* inlet.call("POST", "/api/workspaces/rotate-key", { key })
          yield* step(() => page.getByRole("link", { name: "Domains" }).first().click())
          yield* step(() => page.getByRole("status").getByText("Your session has ended").waitFor())
        })
      )
    )

    it.effect("replaces the API key, shows the new one once and stays signed in", () =>
      visiting(({ inlet, page }) =>
        Effect.gen(function* () {
          const { key } = yield* inlet.inbox()
          yield* enter(page, inlet.url, key, "/console/keys")
          yield* step(() => page.getByRole("button", { name: "Replace the key" }).click())
          yield* step(() => page.getByRole("button", { name: "Replace", exact: true }).click())
          const replaced = yield* textOf(page.locator(".copy-line code").first())
          assert.match(replaced, /^ak_live_/)
          assert.strictEqual((yield* inlet.call("GET", "/api/workspace", { key })).status, 401)
          assert.strictEqual((yield* inlet.call("GET", "/api/workspace", { key: replaced })).status, 200)
          yield* step(() => page.reload())
          yield* step(() => page.getByRole("button", { name: "Replace the key" }).waitFor())
          assert.notInclude(yield* textOf(page.locator("main")), replaced)
        })
      )
    )

    it.effect(
      "has no violation that axe finds, and does not scroll sideways, light and dark, wide and narrow",
      () =>
        visiting(
          ({ inlet, page }) =>
            Effect.gen(function* () {
              const inbox = yield* inlet.inbox("http://127.0.0.1:9/")
              yield* inlet.call("POST", `/api/domains/${inbox.domainId}/simulate`, {
                key: inbox.key,
                body: { sample: "attachment" }
              })
              const list = inlet.call("GET", `/api/domains/${inbox.domainId}/events`, { key: inbox.key })
              const { json } = yield* eventually(list, ({ json }) => json.events.length === 1)
              const domain = `/console/d/${inbox.domainId}`
              const mail = `${domain}/mail/${json.events[0].event_id}`

              const look = Effect.fnUntraced(function* (path: string) {
                yield* step(() => page.goto(`${inlet.url}${path}`))
                yield* step(() => page.getByRole("heading", { level: 1 }).first().waitFor())
                yield* eventually(
                  step(() => page.locator(".skeleton").count()),
                  (count) => count === 0
                )
                yield* step(() => page.addScriptTag({ content: axe.source }))
                for (const width of [1_280, 360]) {
                  yield* step(() => page.setViewportSize({ width, height: 844 }))
                  assert.isAtMost(yield* overflow(page), 0, `${path} at ${width} px`)
                  // Its parts scroll, the window does not.
                  if (path !== "/console/sign-in") assert.isAtMost(yield* below(page), 0, `${path} at ${width} px`)
                  for (const colorScheme of ["light", "dark"] as const) {
                    yield* step(() => page.emulateMedia({ colorScheme }))
                    assert.deepStrictEqual(yield* violations(page), [], `${path}, ${colorScheme} at ${width} px`)
                  }
                }
              })
              yield* look("/console/sign-in")
              yield* enter(page, inlet.url, inbox.key)
              yield* enter(page, inlet.url, token)
              const paths = [
                `${domain}/inbox`,
                mail,
                ...["deliveries", "headers", "json"].map((tab) => `${mail}?tab=${tab}`),
                `${domain}/webhook`,
                `${domain}/refused`,
                "/console/trace",
                `/console/trace?to=${inbox.address}`,
                `${domain}/statistics`,
                "/console/domains",
                `/console/domains/${inbox.domainId}`,
                "/console/events",
                "/console/keys",
                "/console/operator",
                "/console/operator/workspaces",
                `/console/operator/trace?to=${inbox.address}`,
                "/console/operator/domains",
                "/console/nowhere"
              ]
              for (const path of paths) yield* look(path)
            }),
          // The checks run as a script of the page, which its policy forbids.
          { bypassCSP: true }
        ),
      // 20 pages in four looks each.
      { timeout: 240_000 }
    )
  })

  layer(Browser.layer, { excludeTestServices: true })("An open inbox", (it) => {
    it.effect("goes on after a kill -9 of the service, and shows the mail that came meanwhile", () =>
      Effect.gen(function* () {
        const browser = yield* Browser
        const settings = {
          ...(yield* InletProcess.installation),
          HTTP_PORT: `${yield* Ports.free}`,
          LOG_LEVEL: "error"
        }
        const first = yield* InletProcess.start(settings)
        const { json: workspace } = yield* first.call("POST", "/api/workspaces", { body: { name: "test" } })
        const key: string = workspace.api_key
        const { json: inbox } = yield* first.call("POST", "/api/instant-inbox", { key })
        yield* browser.visit({}, ({ page }) =>
          Effect.gen(function* () {
            yield* enter(page, first.url, key)
            yield* step(() => page.getByText("Live", { exact: true }).waitFor())
            yield* first.signal("SIGKILL")
            yield* first.ending
            yield* step(() => page.getByText("Reconnecting", { exact: true }).waitFor())
            const second = yield* InletProcess.start(settings)
            const simulate = second.call("POST", `/api/domains/${inbox.domain_id}/simulate`, {
              key,
              body: { subject: "meanwhile" }
            })
            assert.strictEqual((yield* simulate).status, 202)
            yield* step(() => page.getByText("Live", { exact: true }).waitFor({ timeout: 30_000 }))
            yield* step(() => page.getByRole("link", { name: /meanwhile/ }).waitFor())
          })
        )
      })
    )
  })

  layer(Layer.mergeAll(TestInlet.layer(), Browser.layer), { excludeTestServices: true })("A long inbox", (it) => {
    it.effect("draws the rows in view and holds the pages near them, from its first mail to its last", () =>
      visiting(({ inlet, page }) =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const inbox = yield* inlet.inbox()
          yield* Mail.send(inlet.smtpPort, { to: inbox.address, subject: "the last mail" })
          const list = inlet.call("GET", `/api/domains/${inbox.domainId}/events`, { key: inbox.key })
          yield* eventually(list, ({ json }) => json.events.length === 1)
          yield* Copies.of(sql, inbox.domainId, 3_000)
          yield* enter(page, inlet.url, inbox.key, `/console/d/${inbox.domainId}/inbox`)
          yield* step(() => page.locator(".row a").first().waitFor())
          const end = "(() => { const box = document.querySelector('.rows'); box.scrollTop = box.scrollHeight })()"
          yield* eventually(
            Effect.andThen(
              step(() => page.evaluate(end)),
              step(() => page.getByRole("link", { name: /the last mail/ }).isVisible())
            ),
            (isVisible) => isVisible
          )
          assert.isBelow(yield* step(() => page.locator(".row").count()), 60)
          yield* step(() => page.getByText("Live", { exact: true }).waitFor())
          yield* Mail.send(inlet.smtpPort, { to: inbox.address, subject: "came meanwhile" })
          yield* step(() => page.getByRole("button", { name: "1 new" }).waitFor())
          // The pages after the first one were freed, and load again.
          yield* step(() => page.evaluate("document.querySelector('.rows').scrollTop = 0"))
          yield* step(() => page.getByRole("link", { name: /copy 3000/ }).waitFor())
          yield* step(() => page.getByRole("button", { name: "1 new" }).click())
          yield* step(() => page.getByRole("link", { name: /copy 3000/ }).waitFor())
          const subjects = yield* step(() => page.locator(".row a").allTextContents())
          assert.lengthOf(
            subjects.filter((text) => text.includes("came meanwhile")),
            1
          )
          yield* step(() => page.evaluate("document.querySelector('.rows').scrollTop = 12_000"))
          yield* step(() =>
            page
              .getByRole("link", { name: /copy 28\d\d/ })
              .first()
              .waitFor()
          )
        })
      )
    )

    it.effect("shows a mail once if the stream of a filtered list opens before the list is loaded", () =>
      visiting(({ inlet, page }) =>
        Effect.gen(function* () {
          const { address, domainId, key } = yield* inlet.inbox()
          yield* Mail.send(inlet.smtpPort, { to: address, subject: "held once" })
          yield* eventually(
            inlet.call("GET", `/api/domains/${domainId}/events`, { key }),
            ({ json }) => json.events.length === 1
          )
          yield* enter(page, inlet.url, key, "/console/domains")
          const opened = Promise.withResolvers<void>()
          yield* step(() =>
            page.route(/\/events\?/, (route) => opened.promise.then(() => route.continue()), { times: 1 })
          )
          yield* step(() => page.goto(`${inlet.url}/console/d/${domainId}/inbox?delivery=held`))
          yield* step(() => page.getByText("Live", { exact: true }).waitFor())
          opened.resolve()
          yield* step(() =>
            page
              .getByRole("link", { name: /held once/ })
              .first()
              .waitFor()
          )
          yield* Mail.send(inlet.smtpPort, { to: address, subject: "came later" })
          yield* step(() =>
            page
              .getByRole("link", { name: /came later/ })
              .first()
              .waitFor()
          )
          assert.strictEqual(yield* step(() => page.locator(".row a").count()), 2)
        })
      )
    )
  })
})
