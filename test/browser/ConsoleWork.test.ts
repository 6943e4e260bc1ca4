import { createServer } from "node:http"
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Page } from "playwright-core"
import { DnsServer } from "../DnsServer.ts"
import { eventually } from "../Eventually.ts"
import * as Mail from "../Mail.ts"
import * as Needs from "../Needs.ts"
import * as Ports from "../Ports.ts"
import { TestInlet } from "../TestInlet.ts"
import { Browser, step, textOf, type Window } from "./Browser.ts"
import * as Console from "./Console.ts"

const World = Layer.unwrap(
  Effect.map(DnsServer, ({ server }) => TestInlet.layer({ DNS_SERVERS: server, MAX_DOMAINS_PER_WORKSPACE: "0" }))
).pipe(Layer.provideMerge(Layer.merge(DnsServer.layer, Browser.layer)))

const visiting = <E, R>(
  steps: (place: Window & { readonly inlet: TestInlet["Service"] }) => Effect.Effect<void, E, R>
) =>
  Effect.gen(function* () {
    const inlet = yield* TestInlet
    const browser = yield* Browser
    yield* browser.visit({}, (window) => steps({ ...window, inlet }))
  })

const click = (page: Page, name: string | RegExp) =>
  step(() => page.getByRole("button", { name, exact: typeof name === "string" }).click())

/** A page of another origin on this machine. Its requests are same-site, so the browser sends SameSite cookies. */
const attacker = Effect.fnUntraced(function* (html: string) {
  const port = yield* Ports.free
  yield* Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const server = createServer((_, response) => {
        response.writeHead(200, { "content-type": "text/html" }).end(html)
      })
      server.listen(port, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
  )
  return `http://127.0.0.1:${port}/`
})

describe("A browser", Needs.options(Needs.chromium), () => {
  layer(World, { excludeTestServices: true })("The console", (it) => {
    it.effect("adds an own domain, compares its records with DNS, and verifies and removes it", () =>
      visiting(({ complaints, inlet, page }) =>
        Effect.gen(function* () {
          const dns = yield* DnsServer
          const { key } = yield* inlet.workspace
          yield* Console.enter(page, inlet.url, key, "/console/domains")
          yield* step(() => page.getByPlaceholder("mail.example.com").fill("console.example.com"))
          yield* click(page, "Add")
          yield* step(() => page.getByRole("heading", { name: "console.example.com" }).waitFor())
          yield* step(() => page.getByText("not in DNS yet").first().waitFor())
          yield* click(page, "Verify")
          yield* step(() =>
            page
              .getByRole("alert")
              .getByText(/^No TXT record at/)
              .waitFor()
          )
          const health = page.locator("section", { has: page.getByRole("heading", { name: "Health", exact: true }) })
          yield* step(() => health.getByText(/is not verified, so its mail is refused$/).waitFor())
          yield* step(() =>
            health.getByText(/^Publish the TXT record, then use "Verify" on the page of the domain/).waitFor()
          )
          const value = yield* textOf(page.locator(".record .copy-line code").nth(1))
          yield* dns.answer("TXT", "_service-verify.console.example.com", { text: [value] })
          yield* click(page, "Verify")
          yield* step(() => page.getByText("verified, waiting for mail").waitFor())
          yield* step(() => page.getByText("found in DNS").waitFor())
          yield* step(() => health.getByText("console.example.com is verified, so its mail is accepted").waitFor())
          yield* click(page, "Check again")
          // The navigation names the domain of the page.
          const chosen = page.locator("nav .switch option:checked")
          assert.strictEqual(yield* textOf(chosen), "console.example.com")
          yield* click(page, "Remove the domain")
          yield* click(page, "Remove")
          yield* step(() => page.getByText("No domain yet.").waitFor())
          // The refusal of the first verification is the browser's only complaint.
          assert.deepStrictEqual(
            complaints.filter((line) => !line.includes("409")),
            []
          )
        })
      )
    )

    it.effect("allows and blocks senders of a domain, and shows what holds their mail", () =>
      visiting(({ complaints, inlet, page }) =>
        Effect.gen(function* () {
          const { address, domainId, key } = yield* inlet.inbox()
          yield* Console.enter(page, inlet.url, key, `/console/domains/${domainId}`)
          yield* step(() => page.getByText("No rules: every sender passes").waitFor())
          yield* step(() => page.getByText("Add a rule").click())
          yield* step(() => page.getByLabel("Address, example.com").fill("not an address"))
          yield* click(page, "Add the rule")
          yield* step(() =>
            page
              .getByRole("alert")
              .getByText(/^value: /)
              .waitFor()
          )
          yield* step(() => page.getByLabel("Address, example.com").fill("Friend.Example"))
          yield* click(page, "Add the rule")
          yield* step(() => page.getByRole("cell", { name: "friend.example", exact: true }).waitFor())
          yield* step(() => page.getByRole("combobox", { name: "Rule", exact: true }).selectOption("block"))
          yield* step(() => page.getByRole("combobox", { name: "About" }).selectOption("network"))
          yield* step(() => page.getByRole("combobox", { name: "What becomes of it" }).selectOption("reject"))
          yield* step(() => page.getByLabel("Network, such as").fill("198.51.100.0/24"))
          yield* step(() => page.getByRole("textbox", { name: "Note" }).fill("a scanner"))
          yield* click(page, "Add the rule")
          yield* step(() =>
            page.getByRole("row", { name: /Block 198.51.100.0\/24 .*rejected with 550 a scanner/ }).waitFor()
          )

          yield* Mail.send(inlet.smtpPort, { to: address, subject: "from a stranger" })
          yield* step(() => page.goto(`${inlet.url}/console/d/${domainId}/inbox`))
          yield* step(() => page.getByRole("link", { name: /from a stranger/ }).click())
          yield* step(() => page.getByRole("tab", { name: "Deliveries" }).click())
          yield* step(() => page.getByText(/^No sender rule allows/).waitFor())

          yield* step(() => page.goto(`${inlet.url}/console/domains/${domainId}`))
          yield* click(page, "Remove the rule about friend.example")
          yield* step(() =>
            page.getByRole("cell", { name: "friend.example", exact: true }).waitFor({ state: "detached" })
          )
          assert.deepStrictEqual(
            complaints.filter((complaint) => !complaint.includes("400")),
            []
          )
        })
      )
    )

    it.effect("searches a domain, buys it with the wallet and opens its page", () =>
      visiting(({ complaints, inlet, page }) =>
        Effect.gen(function* () {
          const { key } = yield* inlet.workspace
          yield* Console.enter(page, inlet.url, key, "/console/domains")
          yield* step(() => page.getByText(/^Wallet: \$/).waitFor())
          yield* step(() => page.getByPlaceholder("my-agent").fill("console-agent"))
          yield* click(page, "Search")
          yield* click(page, "Buy console-agent.com")
          yield* click(page, "Buy")
          yield* step(() => page.getByRole("cell", { name: /completed/ }).waitFor())
          // A name without a quote may be taken, or its registrar silent.
          yield* click(page, "Search")
          const found = page.getByRole("row").filter({ hasText: "console-agent.com" }).filter({ hasText: "–" })
          yield* step(() => found.getByText("not available now").waitFor())
          yield* step(() => page.getByRole("link", { name: "console-agent.com" }).first().click())
          yield* step(() => page.getByRole("heading", { name: "console-agent.com" }).waitFor())
          assert.deepStrictEqual(complaints, [])
        })
      )
    )

    it.effect(
      "creates read keys, with a pattern too, shows one once and revokes it, and rotates the signing secret",
      () =>
        visiting(({ complaints, inlet, page }) =>
          Effect.gen(function* () {
            const { domainId, key, secret } = yield* inlet.inbox("http://127.0.0.1:9/")
            yield* Console.enter(page, inlet.url, key, "/console/keys")
            yield* step(() => page.getByPlaceholder("Name, such as support agent").fill("helper"))
            yield* click(page, "Create a read key")
            const made = yield* textOf(page.locator(".copy-line code"))
            assert.match(made, /^ak_read_/)
            assert.strictEqual((yield* inlet.call("GET", "/api/domains", { key: made })).status, 200)
            yield* click(page, "Revoke helper")
            yield* step(() => page.getByRole("cell", { name: "helper", exact: true }).waitFor({ state: "detached" }))
            assert.strictEqual((yield* inlet.call("GET", "/api/domains", { key: made })).status, 401)

            yield* step(() => page.getByPlaceholder("All addresses, or agent-7").fill("agent-*"))
            yield* click(page, "Create a read key")
            yield* step(() => page.getByRole("cell", { name: "agent-*", exact: true }).waitFor())
            const { json } = yield* inlet.call("GET", "/api/workspaces/keys", { key })
            assert.strictEqual(json.keys[0].pattern, "agent-*")

            yield* step(() => page.goto(`${inlet.url}/console/d/${domainId}/webhook`))
            yield* click(page, "Rotate the secret")
            yield* click(page, "Rotate")
            const rotated = yield* textOf(page.locator(".copy-line code"))
            assert.match(rotated, /^whsec_/)
            assert.notStrictEqual(rotated, secret)
            assert.deepStrictEqual(complaints, [])
          })
        )
    )

    it.effect("lists ingest keys apart from read keys, and revokes one", () =>
      visiting(({ complaints, inlet, page }) =>
        Effect.gen(function* () {
          const { key } = yield* inlet.workspace
          const make = (scope: string) =>
            inlet.call("POST", "/api/workspaces/keys", { key, body: { scope, name: `for ${scope}` } })
          yield* Effect.forEach(["read", "ingest"], make)
          yield* Console.enter(page, inlet.url, key, "/console/keys")
          const section = (name: string) =>
            page.locator("section", { has: page.getByRole("heading", { name, exact: true }) })
          const row = (name: string, of: string) => section(name).getByRole("cell", { name: `for ${of}`, exact: true })
          yield* step(() => row("Ingest keys", "ingest").waitFor())
          yield* step(() => row("Read keys", "read").waitFor())
          assert.strictEqual(yield* step(() => row("Read keys", "ingest").count()), 0)
          assert.strictEqual(yield* step(() => row("Ingest keys", "read").count()), 0)
          yield* click(page, "Revoke for ingest")
          yield* step(() => section("Ingest keys").waitFor({ state: "detached" }))
          assert.deepStrictEqual(complaints, [])
        })
      )
    )

    it.effect("does nothing for forms, images, requests and frames of another origin", () =>
      visiting(({ inlet, page }) =>
        Effect.gen(function* () {
          const { key } = yield* inlet.workspace
          yield* Console.enter(page, inlet.url, key)
          const target = `${inlet.url}/api/instant-inbox`
          const url = yield* attacker(`<!doctype html><title>attack</title>
            <form id="form" method="post" action="${target}" target="answer"><input name="a" value="b"></form>
            <iframe name="answer"></iframe><iframe id="frame" src="${inlet.url}/console"></iframe>
            <img src="${inlet.url}/api/console/state">
            <script>
              document.getElementById("form").submit()
              const attempts = [
                fetch("${target}", { method: "POST", credentials: "include", mode: "no-cors" }),
                fetch("${target}", { method: "POST", credentials: "include", headers: { "x-inlet-console": "1" } }),
                fetch("${inlet.url}/api/domains", { credentials: "include" }).then((answer) => answer.text())
              ]
              Promise.allSettled(attempts).then((all) => { window.outcome = all.map(({ status }) => status) })
            </script>`)
          yield* step(() => page.goto(url))
          yield* step(() => page.waitForFunction("window.outcome !== undefined"))
          const [, withHeader, read] = yield* step(() => page.evaluate<ReadonlyArray<string>>("window.outcome"))
          assert.deepStrictEqual([withHeader, read], ["rejected", "rejected"])
          // The policy of the page forbids frames, so the frame has no document of the service.
          const frames = page.frames().map((frame) => frame.url())
          assert.notInclude(frames, `${inlet.url}/console`)
          const { json } = yield* inlet.call("GET", "/api/domains", { key })
          assert.deepStrictEqual(json.domains, [])
        })
      )
    )

    it.effect("sends at most one request a minute beside its stream while nothing happens", () =>
      visiting(({ inlet, page, requests }) =>
        Effect.gen(function* () {
          const { domainId, key } = yield* inlet.inbox()
          yield* inlet.call("POST", `/api/domains/${domainId}/simulate`, { key, body: { sample: "code" } })
          yield* Console.enter(page, inlet.url, key)
          yield* step(() => page.getByRole("link", { name: /482913/ }).waitFor())
          yield* step(() => page.getByText("Live", { exact: true }).waitFor())
          const before = requests.length
          yield* step(() => page.clock.install())
          yield* step(() => page.clock.runFor("05:00"))
          assert.isAtMost(requests.length - before, 5)
        })
      )
    )
  })

  const small = Layer.merge(TestInlet.layer({ MAX_EMAILS_PER_DAY: "5" }), Browser.layer)
  layer(small, { excludeTestServices: true })("The console of a small workspace", (it) => {
    it.effect("tells on every page but its own that the messages of the day are almost used", () =>
      visiting(({ complaints, inlet, page }) =>
        Effect.gen(function* () {
          const { domainId, key } = yield* inlet.inbox()
          const send = inlet.call("POST", `/api/domains/${domainId}/simulate`, { key, body: { sample: "code" } })
          for (let mail = 0; mail < 3; mail++) yield* send
          const notice = page.locator(".notice")
          yield* Console.enter(page, inlet.url, key, "/console/domains")
          yield* step(() => page.getByRole("heading", { name: "Domains" }).waitFor())
          assert.strictEqual(yield* step(() => notice.count()), 0)
          yield* send
          yield* step(() => page.reload())
          yield* step(() => notice.getByText("4 of 5 messages of today are used").waitFor())
          yield* send
          yield* step(() => page.reload())
          yield* step(() => notice.getByText("All 5 messages of today are used").waitFor())
          yield* step(() => notice.getByRole("link", { name: "Show the limits" }).click())
          yield* step(() => page.getByRole("heading", { name: "Usage" }).waitFor())
          assert.strictEqual(yield* step(() => notice.count()), 0)
          assert.deepStrictEqual(complaints, [])
        })
      )
    )

    it.effect("lists its operational events, and sets and removes their webhook", () =>
      visiting(({ complaints, inlet, page }) =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const { domainId, key } = yield* inlet.inbox("http://127.0.0.1:9/")
          yield* sql`
            UPDATE webhooks SET failing_since = now() - interval '5 days', paused_at = now(),
              probe_at = now() + interval '1 hour'
            WHERE id = ${domainId}
          `
          yield* eventually(
            inlet.call("GET", "/api/operational-events", { key }),
            ({ json }) => json.operational_events.length === 1
          )
          yield* Console.enter(page, inlet.url, key, "/console/events")
          yield* step(() => page.getByText("webhook paused").waitFor())
          yield* step(() => page.getByText("resume it on the page Webhook").waitFor())
          yield* step(() => page.getByPlaceholder("https://ops.example.com/inlet").fill("http://127.0.0.1:9/ops"))
          yield* click(page, "Set webhook")
          yield* step(() => page.getByRole("button", { name: "Remove", exact: true }).waitFor())
          const url = Effect.map(inlet.call("GET", "/api/workspace", { key }), ({ json }) => json.opsWebhookUrl)
          assert.strictEqual(yield* url, "http://127.0.0.1:9/ops")
          yield* click(page, "Remove")
          yield* step(() => page.getByRole("button", { name: "Set webhook" }).waitFor())
          assert.isNull(yield* url)
          assert.deepStrictEqual(complaints, [])
        })
      )
    )
  })
})
