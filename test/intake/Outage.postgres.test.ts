import { connect, createServer, type Socket } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Config, ConfigProvider, Context, Effect, Layer, Logger, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as Database from "../../src/Database.ts"
import * as Inlet from "../../src/Inlet.ts"
import { RawStore } from "../../src/providers/RawStore.ts"
import { EventFeed } from "../../src/reading/EventFeed.ts"
import * as Mailbox from "../Mailbox.ts"
import * as Ports from "../Ports.ts"
import type { SmtpDialog } from "../SmtpDialog.ts"
import * as TestDatabase from "../TestDatabase.ts"

/** The embedded database lives in this process and has no wire to cut, so this file needs a server. */
const server = Config.Redacted("TEST_DATABASE_URL")

type Mode = "pass" | "hold" | "cut"

/** A proxy before PostgreSQL that can pass everything on, hold it back, or cut every connection. */
const proxy = Effect.fnUntraced(function* (target: number) {
  const port = yield* Ports.free
  const sockets = new Set<Socket>()
  let mode: Mode = "pass"
  const pass = (from: Socket, to: Socket) => {
    sockets.add(from)
    from.pipe(to)
    if (mode === "hold") from.pause()
    from.on("error", () => {})
    from.on("close", () => {
      to.destroy()
      sockets.delete(from)
    })
  }
  const listener = createServer((client) => {
    if (mode === "cut") client.destroy()
    else {
      const upstream = connect(target, "127.0.0.1")
      pass(client, upstream)
      pass(upstream, client)
    }
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void listener.listen(port, "127.0.0.1", () => resume(Effect.void))),
    () =>
      Effect.sync(() => {
        for (const socket of sockets) socket.destroy()
        listener.close()
      })
  )
  return {
    port,
    turn: (next: Mode) =>
      Effect.sync(() => {
        mode = next
        for (const socket of sockets) {
          if (next === "cut") socket.destroy()
          else if (next === "hold") socket.pause()
          else socket.resume()
        }
      })
  }
})

/** The reply, waited for as long as it takes a patient sender: a dialog gives up after ten seconds. */
const patiently = (dialog: SmtpDialog, said: Effect.Effect<string>) =>
  Effect.filterOrElse(
    said,
    (reply) => !reply.startsWith("no reply"),
    () => dialog.reply
  )

const message = (id: number) => `Message-ID: <${id}@sender.example>\r\nSubject: ${id}\r\n\r\n`

describe("When PostgreSQL", () => {
  it.live(
    "is gone or hangs, the sender hears 451 in seconds, and mail is taken again once it is back",
    () =>
      Effect.gen(function* () {
        const own = yield* Effect.map(
          Layer.build(TestDatabase.TestPostgres.layerOn(yield* server)),
          Context.get(TestDatabase.TestPostgres)
        )
        const url = new URL(Redacted.value(own.url))
        const { port: databasePort, turn } = yield* proxy(Number(url.port))
        url.port = `${databasePort}`
        const port = yield* Ports.free
        const world = yield* Layer.build(
          Inlet.smtp.pipe(
            Layer.provide([EventFeed.layer, RawStore.layerMemory, Logger.layer([])]),
            Layer.provideMerge(Database.migrations),
            Layer.provideMerge(Database.layerPostgres(Redacted.make(url.href))),
            Layer.provide(
              ConfigProvider.layerAdd(ConfigProvider.fromEnv({ env: { SMTP_PORT: `${port}` } }), { asPrimary: true })
            )
          )
        )
        const sql = Context.get(world, SqlClient.SqlClient)
        yield* Mailbox.attach("outage.example").pipe(Effect.provideContext(world))

        const first = yield* Mailbox.begin(port, "someone@outage.example")
        yield* turn("cut")
        assert.match(yield* first.say("RCPT TO:<other@outage.example>"), /^451 4\.3\.0 /)
        assert.match(yield* Mailbox.data(first, message(1)), /^451 4\.3\.0 /)
        yield* turn("pass")
        assert.match(yield* Mailbox.deliver(port, "someone@outage.example", message(1)), /^250 /)

        const second = yield* Mailbox.begin(port, "someone@outage.example")
        const third = yield* Mailbox.begin(port, "someone@outage.example")
        yield* turn("hold")
        const replies = yield* Effect.all(
          [
            patiently(second, Mailbox.data(second, message(2))),
            patiently(third, third.say("RCPT TO:<other@outage.example>"))
          ],
          { concurrency: "unbounded" }
        )
        assert.match(replies[0], /^451 4\.3\.0 /)
        assert.match(replies[1], /^451 4\.3\.0 /)
        yield* turn("pass")
        assert.match(yield* Mailbox.deliver(port, "someone@outage.example", message(2)), /^250 /)
        assert.match(yield* Mailbox.deliver(port, "someone@outage.example", message(2)), /^250 /)

        const kept = yield* sql`SELECT id FROM inbound_emails`
        assert.strictEqual(kept.length, 2)
      }),
    60_000
  )
})
