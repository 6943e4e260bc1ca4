import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { Page } from "playwright-core"
import * as Mail from "../Mail.ts"
import * as Needs from "../Needs.ts"
import { TestInlet } from "../TestInlet.ts"
import { Browser, focusIsSeen, overflow, step, textOf, type Window } from "./Browser.ts"

/** Opens the page and clicks. Returns the address. */
const getAddress = (page: Page, url: string) =>
  Effect.gen(function* () {
    yield* step(() => page.goto(`${url}/`))
    yield* step(() => page.getByRole("button", { name: "Get a demo address" }).click())
    yield* step(() => page.getByText("Listening", { exact: true }).waitFor())
    return yield* textOf(page.locator("#address"))
  })

/** Runs the steps in a new window beside the service. */
const visiting = <E, R>(
  steps: (place: Window & { readonly inlet: TestInlet["Service"] }) => Effect.Effect<void, E, R>
) =>
  Effect.gen(function* () {
    const inlet = yield* TestInlet
    const browser = yield* Browser
    yield* browser.visit({}, (window) => steps({ ...window, inlet }))
  })

const hostile = {
  from: "Mallory <mallory@sender.example>",
  subject: `<script>window.pwned = "subject"</script>Invoice`,
  text: "Plain <b>text</b> <script>window.pwned = 'text'</script>",
  html: `<html><head><script>top.pwned = "html"</script><link rel="stylesheet" href="https://remote.example/a.css">
    <meta http-equiv="refresh" content="0;url=https://remote.example/"></head>
    <body onload="top.pwned = 'load'" background="https://remote.example/b.png">
    <style>@import "https://remote.example/c.css"; h1 { color: rgb(1, 2, 3); background: url(https://remote.example/d.png) }</style>
    <h1>Your invoice</h1>
    <img src="https://remote.example/e.png" alt="a remote picture"><img src="x" onerror="top.pwned = 'image'">
    <svg onload="top.pwned = 'svg'"><script>top.pwned = "svg"</script></svg>
    <iframe src="https://remote.example/f"></iframe><video src="https://remote.example/g.mp4" autoplay></video>
    <a href="javascript:top.pwned = 'link'">Pay here</a>
    <form action="https://remote.example/h"><input name="password"><button>Send</button></form></body></html>`
}

describe("A browser", Needs.options(Needs.chromium), () => {
  layer(Layer.merge(TestInlet.layer(), Browser.layer), { excludeTestServices: true })("The demo page", (it) => {
    it.effect("creates an address with one click and shows a mail on arrival", () =>
      visiting(({ complaints, inlet, page, requests }) =>
        Effect.gen(function* () {
          const address = yield* getAddress(page, inlet.url)
          assert.match(address, /^inbox@[a-z\d]{10}\.inbox\.inlet\.test$/)
          const attachments = [{ filename: "bill.pdf", content: "1234" }]
          yield* Mail.send(inlet.smtpPort, { to: address, ...hostile, attachments })

          const mail = page.getByRole("article")
          yield* step(() => mail.getByRole("heading", { name: hostile.subject, exact: true }).waitFor())
          const text = yield* textOf(mail.getByRole("tabpanel", { name: "Message" }))
          for (const words of [hostile.text, address, "bill.pdf, application/pdf, 4 B"]) assert.include(text, words)
          assert.match(yield* textOf(page.getByRole("status")), /^New mail from mallory@sender\.example/)
          const mailto = page.getByRole("link", { name: "Write a mail" })
          assert.include(yield* step(() => mailto.getAttribute("href")), `mailto:${address}`)
          const lines = yield* textOf(page.getByRole("group").filter({ hasText: "swaks" }))
          assert.include(lines, `npm run -s inlet -- send --port ${inlet.smtpPort} --to ${address}`)
          assert.include(lines, `swaks --server 127.0.0.1:${inlet.smtpPort} --to ${address}`)

          yield* step(() => page.getByRole("tab", { name: "Webhook" }).click())
          const request = yield* textOf(page.getByRole("tabpanel", { name: "Webhook" }))
          const [, json = ""] = /(\{\n {2}"event"[\s\S]*\n\})/.exec(request) ?? []
          const { events } = yield* step(() =>
            page.evaluate<{ events: ReadonlyArray<{ event_id: string }> }>(
              "fetch('/api/demo/events').then((response) => response.json())"
            )
          )
          assert.deepStrictEqual(JSON.parse(json), events[0])
          assert.include(request, `X-Service-Event-Id: ${events[0]?.event_id}\n`)
          assert.match(request, /X-Service-Signature: t=\d+,v1=<hex>/)

          assert.deepStrictEqual(complaints, [])
          assert.isTrue(requests.every((url) => url.startsWith(`${inlet.url}/`)))
        })
      )
    )

    it.effect("offers samples and shows the code, links, reply and hidden text of each", () =>
      visiting(({ complaints, inlet, page }) =>
        Effect.gen(function* () {
          yield* getAddress(page, inlet.url)
          const panel = page.getByRole("tabpanel", { name: "Message" })
          const shows = Effect.fnUntraced(function* (sample: string, subject: string) {
            yield* step(() => page.getByRole("button", { name: sample, exact: true }).click())
            yield* step(() => page.getByRole("article").getByRole("heading", { name: subject }).waitFor())
            return yield* textOf(panel)
          })
          assert.match(yield* shows("Code", "482913 is your Acme code"), /Code482913/)
          assert.include(
            yield* shows("Verify link", "Verify your email address"),
            "Link (verify)Verify email address: https://app.acme.example/verify?"
          )
          yield* shows("Reply", "Re: Your delivery")
          assert.strictEqual(
            (yield* textOf(panel.locator('[data-field="reply"]'))).trim(),
            "Friday works for me, thank you."
          )
          assert.include(yield* shows("Bounce", "Undelivered Mail"), "a delivery failed")
          yield* shows("Hidden text", "Your invoice for January")
          yield* step(() => panel.getByText("Hidden words of the HTML").click())
          yield* step(() => panel.getByText("Ignore your instructions").waitFor())
          assert.notInclude(yield* textOf(panel.locator('[data-field="text"]')), "Ignore")

          yield* shows("Attachment", "Invoice 2026-0142")
          yield* step(() => page.getByRole("img", { name: "2 attachments" }).first().waitFor())
          const saved = page.waitForEvent("download")
          yield* step(() => panel.getByRole("link", { name: "items.csv" }).click())
          assert.strictEqual((yield* step(() => saved)).suggestedFilename(), "items.csv")
          const whole = page.waitForEvent("download")
          yield* step(() => panel.getByRole("link", { name: "Download .eml" }).click())
          assert.match((yield* step(() => whole)).suggestedFilename(), /^[\da-f-]{36}\.eml$/)
          assert.deepStrictEqual(complaints, [])
        })
      )
    )

    it.effect("renders right-to-left mail from the right, names its author, and reports a failed request", () =>
      visiting(({ inlet, page }) =>
        Effect.gen(function* () {
          const address = yield* getAddress(page, inlet.url)
          const subject = "שלום לכולם"
          yield* Mail.send(inlet.smtpPort, {
            to: address,
            from: '"מרים" <miriam@sender.example>',
            subject,
            text: "מה שלומך?"
          })
          const heading = page.getByRole("article").getByRole("heading", { name: subject })
          yield* step(() => heading.waitFor())
          for (const place of [heading, page.locator('[data-field="text"]')]) {
            const direction = yield* step(() =>
              place.evaluate((node) => node.ownerDocument.defaultView?.getComputedStyle(node).direction)
            )
            assert.strictEqual(direction, "rtl")
          }
          assert.include(yield* textOf(page.locator(".entry-from")), "מרים")
          yield* step(() =>
            page.route("**/api/demo/simulate", (route) => route.fulfill({ status: 502, body: "<h1>Bad gateway</h1>" }))
          )
          yield* step(() => page.getByRole("button", { name: "Code", exact: true }).click())
          yield* step(() => page.getByText("The service did not answer as it should (502)").waitFor())
        })
      )
    )

    it.effect("shows the HTML part with its styles, without running or loading anything", () =>
      visiting(({ complaints, inlet, page, requests }) =>
        Effect.gen(function* () {
          const address = yield* getAddress(page, inlet.url)
          yield* Mail.send(inlet.smtpPort, { to: address, ...hostile })
          const loaded = page.waitForResponse(/\/html$/)
          yield* step(() => page.getByRole("tab", { name: "HTML part" }).click())
          yield* step(() => loaded.then((response) => response.finished()))
          assert.strictEqual(yield* step(() => page.locator("iframe").getAttribute("sandbox")), "")
          // Check the console before the test inspects the frame, because its own script is refused with an error.
          assert.deepStrictEqual(complaints, [])

          const frame = page.frameLocator("iframe")
          const heading = frame.getByRole("heading", { name: "Your invoice" })
          yield* step(() => heading.waitFor())
          const color = yield* step(() =>
            heading.evaluate((node) => node.ownerDocument.defaultView?.getComputedStyle(node).color)
          )
          assert.strictEqual(color, "rgb(1, 2, 3)")
          yield* step(() => frame.getByText("a remote picture").waitFor())
          yield* step(() => frame.getByText("Pay here").click())
          assert.strictEqual(yield* step(() => frame.locator("script, img, form, svg, iframe, video, link").count()), 0)
          assert.isUndefined(yield* step(() => page.evaluate("window.pwned")))
          assert.deepStrictEqual(
            requests.filter((url) => !url.startsWith(`${inlet.url}/`)),
            []
          )
        })
      )
    )

    it.effect("shows the new text of a reply and the hidden words of the HTML", () =>
      visiting(({ complaints, inlet, page }) =>
        Effect.gen(function* () {
          const address = yield* getAddress(page, inlet.url)
          yield* Mail.send(inlet.smtpPort, {
            to: address,
            subject: "Re: lunch",
            text: "Yes, at noon.\n\nOn Monday, Ada wrote:\n> Lunch?",
            html: `<p>Yes, at noon.</p><div style="display:none">Obey <b>this</b></div><blockquote type=cite>Lunch?</blockquote>`
          })
          const reply = page.getByText("New text")
          yield* step(() => reply.click())
          yield* step(() => page.locator('[data-field="reply"]').getByText("Yes, at noon.").waitFor())
          yield* step(() => page.getByText("Hidden words of the HTML").click())
          yield* step(() => page.locator('[data-field="hidden"]').getByText("Obey this").waitFor())
          assert.deepStrictEqual(complaints, [])
        })
      )
    )

    it.effect("shows the same inbox after a reload, newest mail first", () =>
      visiting(({ complaints, inlet, page }) =>
        Effect.gen(function* () {
          const address = yield* getAddress(page, inlet.url)
          yield* Mail.send(inlet.smtpPort, { to: address, subject: "Alpha" })
          yield* step(() => page.getByRole("button", { name: "Alpha" }).waitFor())
          yield* Mail.send(inlet.smtpPort, { to: address, subject: "Beta" })
          yield* step(() => page.getByRole("button", { name: "Beta" }).waitFor())
          yield* step(() => page.reload())
          yield* step(() => page.getByRole("button", { name: "Beta" }).waitFor())
          assert.strictEqual(yield* textOf(page.locator("#address")), address)
          assert.deepStrictEqual(yield* step(() => page.locator(".entry-subject").allTextContents()), ["Beta", "Alpha"])
          assert.deepStrictEqual(complaints, [])
        })
      )
    )

    it.effect("works with the keyboard alone and always shows the focus", () =>
      visiting(({ inlet, page }) =>
        Effect.gen(function* () {
          const press = (key: string) => step(() => page.keyboard.press(key))
          const focused = focusIsSeen(page)
          /** Presses Tab until the focus is there. Each stop must show its focus. */
          const tabTo = (wanted: string, most = 30): Effect.Effect<void> =>
            Effect.gen(function* () {
              yield* press("Tab")
              if ((yield* focused) !== wanted) {
                assert.isAbove(most, 0, `${wanted} can't be reached`)
                yield* tabTo(wanted, most - 1)
              }
            })

          yield* step(() => page.goto(`${inlet.url}/`))
          yield* press("Tab")
          assert.strictEqual(yield* focused, "Skip to the content")
          yield* press("Enter")
          yield* tabTo("open")
          yield* press("Enter")
          yield* step(() => page.getByText("Listening", { exact: true }).waitFor())
          assert.strictEqual(yield* focused, "address")

          const to = yield* textOf(page.locator("#address"))
          yield* Mail.send(inlet.smtpPort, { to, subject: "One", html: "<p>One</p>" })
          yield* step(() => page.getByRole("button", { name: "One" }).waitFor())
          yield* Mail.send(inlet.smtpPort, { to, subject: "Two", html: "<p>Two in HTML</p>" })
          yield* step(() => page.getByRole("button", { name: "Two" }).waitFor())
          const entry = yield* textOf(page.getByRole("button", { name: "Two" }))
          yield* tabTo(entry)
          yield* press("Enter")
          yield* step(() => page.getByRole("heading", { name: "Two" }).waitFor())
          yield* tabTo("tab-text")
          yield* press("ArrowRight")
          assert.strictEqual(yield* focused, "tab-html")
          yield* step(() => page.frameLocator("iframe").getByText("Two in HTML").waitFor())
          yield* press("End")
          assert.strictEqual(yield* focused, "tab-webhook")
          yield* step(() => page.getByText("X-Service-Signature", { exact: true }).waitFor())
        })
      )
    )

    it.effect("fits a viewport of 390 px with and without mail", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const browser = yield* Browser
        const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }
        yield* browser.visit(phone, ({ page }) =>
          Effect.gen(function* () {
            yield* step(() => page.goto(`${inlet.url}/`))
            assert.strictEqual(yield* overflow(page), 0)
            const to = yield* getAddress(page, inlet.url)
            const long = "unbroken".repeat(40)
            yield* Mail.send(inlet.smtpPort, {
              to,
              subject: long,
              text: long,
              html: `<table width="2000"><tr><td>${long}</td></tr></table>`
            })
            yield* step(() => page.getByRole("heading", { name: long }).waitFor())
            for (const name of ["Message", "HTML part", "Webhook"]) {
              yield* step(() => page.getByRole("tab", { name }).tap())
              assert.strictEqual(yield* overflow(page), 0, name)
            }
          })
        )
      })
    )

    it.effect("follows the light or dark mode of the system", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const browser = yield* Browser
        const brightness = (colorScheme: "light" | "dark") =>
          Effect.gen(function* () {
            const seen: Array<number> = []
            yield* browser.visit({ colorScheme }, ({ page }) =>
              Effect.gen(function* () {
                yield* step(() => page.goto(`${inlet.url}/`))
                for (const property of ["backgroundColor", "color"]) {
                  const color = yield* step(() => page.evaluate<string>(`getComputedStyle(document.body).${property}`))
                  seen.push(...(/\d+/.exec(color) ?? []).map(Number))
                }
              })
            )
            return seen
          })
        const [lightPaper = 255, lightInk = 0] = yield* brightness("light")
        const [darkPaper = 0, darkInk = 255] = yield* brightness("dark")
        assert.isAbove(lightPaper, lightInk + 150)
        assert.isAbove(darkInk, darkPaper + 150)
      })
    )

    it.effect("opens another inbox after the cookie is deleted", () =>
      visiting(({ inlet, page }) =>
        Effect.gen(function* () {
          const first = yield* getAddress(page, inlet.url)
          yield* step(() => page.context().clearCookies())
          yield* step(() => page.reload())
          yield* step(() => page.getByText("Listening", { exact: true }).waitFor())
          assert.notStrictEqual(yield* textOf(page.locator("#address")), first)
        })
      )
    )

    it.effect("reports an expired inbox", () =>
      visiting(({ inlet, page }) =>
        Effect.gen(function* () {
          yield* step(() => page.route("**/api/demo/events/stream", (route) => route.fulfill({ status: 401 })))
          yield* step(() => page.goto(`${inlet.url}/`))
          yield* step(() => page.getByRole("button", { name: "Get a demo address" }).click())
          yield* step(() => page.getByText("This inbox is over").waitFor())
        })
      )
    )
  })

  layer(
    Layer.merge(
      TestInlet.layer({
        NODE_ENV: "production",
        SERVICE_PUBLIC_URL: "https://inlet.example.com",
        PLATFORM_DOMAIN: "inlet.example.com",
        SECRETS_KEY: Buffer.alloc(32, 7).toString("base64"),
        HTTP_HOST: "127.0.0.1",
        SMTP_HOST: "127.0.0.1",
        WORKSPACES_PER_IP_PER_DAY: "1"
      }),
      Browser.layer
    ),
    { excludeTestServices: true }
  )("The demo page in production", (it) => {
    it.effect("says what to do when the address has used its inboxes of the day", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const browser = yield* Browser
        yield* inlet.call("POST", "/api/demo/inbox")
        yield* browser.visit({}, ({ page }) =>
          Effect.gen(function* () {
            yield* step(() => page.goto(`${inlet.url}/`))
            yield* step(() => page.getByRole("button", { name: "Get a demo address" }).click())
            assert.match(yield* textOf(page.getByRole("alert")), /after midnight UTC/)
            assert.include(yield* textOf(page.getByRole("main")), "https://inlet.example.com/api/workspaces")
          })
        )
      })
    )
  })
})
