import { createServer } from "node:http"
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Effect, FileSystem, Layer, Schedule } from "effect"
import { type BrowserContextOptions, chromium, type Page } from "playwright-core"
import { TestInlet } from "../src/testing/TestInlet.ts"

// Takes the pictures of the console in README and docs, of a real service, so that they stay true.

const folder = "docs/images"

const step = <A>(act: () => Promise<A>) => Effect.promise(act)

/** A webhook that refuses its second request, for a timeline with a failure. */
const receiver = Effect.acquireRelease(
  Effect.callback<{ readonly url: string; readonly close: () => void }>((resume) => {
    let count = 0
    const server = createServer((request, response) => {
      request.resume().on("end", () => {
        const isRefused = ++count === 2
        response.writeHead(isRefused ? 503 : 200).end(isRefused ? "maintenance until 12:00" : '{"ok":true}')
      })
    }).listen(0, "127.0.0.1", () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      resume(Effect.succeed({ url: `http://127.0.0.1:${port}/inbound`, close: () => server.close() }))
    })
  }),
  ({ close }) => Effect.sync(close)
)

const browser = Effect.acquireRelease(
  step(() =>
    chromium.launch({
      executablePath: "/usr/bin/chromium",
      args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
    })
  ),
  (browser) => step(() => browser.close())
)

const mails = [
  {
    from: "Ada Lovelace <ada@lovelace.example>",
    subject: "Can you move my delivery to Friday?",
    text: "Hello,\n\nplease move it to Friday morning.\n\nAda"
  },
  { from: "Grace Hopper <grace@navy.example>", subject: "Re: Compiler notes", text: "Looks good to me." },
  { from: "Build <ci@build.example>", subject: "main is green again", text: "All 4,812 tests passed." }
]

const samples = ["newsletter", "out-of-office", "attachment", "verify-link", "bounce", "code"]

const take = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const inlet = yield* TestInlet
  const { url: webhook } = yield* receiver
  const chrome = yield* browser
  yield* fs.makeDirectory(folder, { recursive: true })

  const { json: workspace } = yield* inlet.call("POST", "/api/workspaces", { body: { name: "Acme agents" } })
  const key: string = workspace.api_key
  const { json: inbox } = yield* inlet.call("POST", "/api/instant-inbox", { key })
  const place = `/api/domains/${inbox.domain_id}`
  yield* inlet.call("PATCH", `${place}/delivery`, { key, body: { webhookUrl: webhook } })
  const arrived = (count: number) =>
    Effect.repeat(inlet.call("GET", `${place}/events?view=brief&delivery=delivered`, { key }), {
      until: ({ json }) => json.events.length >= count,
      schedule: Schedule.spaced("100 millis")
    })
  yield* inlet.send({ to: inbox.address, subject: "Weekly report", text: "Attached.", from: "reports@acme.example" })
  yield* arrived(1)
  yield* inlet.send({ to: `support@${inbox.domain}`, ...mails[0] })
  yield* Effect.sleep("300 millis")
  for (const mail of mails.slice(1)) yield* inlet.send({ to: `agent-7@${inbox.domain}`, ...mail })
  for (const sample of samples) yield* inlet.call("POST", `${place}/simulate`, { key, body: { sample } })
  yield* arrived(8)

  const visit = (options: BrowserContextOptions, steps: (page: Page) => Effect.Effect<void>) =>
    Effect.scoped(
      Effect.gen(function* () {
        const context = yield* Effect.acquireRelease(
          step(() => chrome.newContext(options)),
          (context) => step(() => context.close())
        )
        const page = yield* step(() => context.newPage())
        yield* step(() => page.goto(`${inlet.url}/console/sign-in`))
        yield* step(() => page.getByLabel("API key, read key").fill(key))
        yield* step(() => page.getByRole("button", { name: "Sign in" }).click())
        yield* step(() => page.getByText("Live", { exact: true }).waitFor())
        yield* steps(page)
      })
    )
  const picture = (page: Page, name: string) => step(() => page.screenshot({ path: `${folder}/${name}.png` }))
  const open = (page: Page, subject: RegExp, tab?: string) =>
    Effect.gen(function* () {
      yield* step(() => page.getByRole("link", { name: subject }).click())
      if (tab !== undefined) yield* step(() => page.getByRole("tab", { name: tab }).click())
      yield* step(() => page.mouse.move(0, 0))
      yield* Effect.sleep("500 millis")
    })

  const wide = { viewport: { width: 1_280, height: 760 } }
  yield* visit({ ...wide, colorScheme: "light" }, (page) =>
    Effect.andThen(open(page, /482913 is your Acme code/), picture(page, "console"))
  )
  yield* visit({ ...wide, colorScheme: "dark" }, (page) =>
    Effect.andThen(open(page, /move my delivery/, "Deliveries"), picture(page, "console-deliveries"))
  )
  yield* visit({ viewport: { width: 390, height: 760 }, colorScheme: "light", isMobile: true }, (page) =>
    picture(page, "console-phone").pipe(Effect.asVoid)
  )
}).pipe(Effect.scoped)

take.pipe(Effect.provide(Layer.merge(TestInlet.layer(), NodeServices.layer)), NodeRuntime.runMain)
