import { assert, describe, layer } from "@effect/vitest"
import { ConfigProvider, Effect, Fiber, Layer, Logger, type Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as Database from "../../src/database/Database.ts"
import { EventFeed } from "../../src/delivery/EventFeed.ts"
import { Handover } from "../../src/delivery/Handover.ts"
import * as Inlet from "../../src/Inlet.ts"
import * as Platform from "../../src/process/Platform.ts"
import { MailScanner } from "../../src/providers/scanner/MailScanner.ts"
import { RawStore } from "../../src/providers/storage/RawStore.ts"
import * as RefusalNotes from "../../src/refusals/RefusalNotes.ts"
import { eventually } from "../Eventually.ts"
import * as Mailbox from "../Mailbox.ts"
import * as Needs from "../Needs.ts"
import * as Ports from "../Ports.ts"
import { PrimaryAndStandby } from "../PrimaryAndStandby.ts"

/** A mail server on the primary, and an address. */
const mailServer = Effect.fnUntraced(function* (url: Redacted.Redacted, domain: string, env = {}) {
  const port = yield* Ports.free
  yield* Layer.build(
    Inlet.smtp.pipe(
      Layer.provide([
        EventFeed.layer,
        Handover.layerNone,
        MailScanner.layerNone,
        RawStore.layerMemory,
        Logger.layer([])
      ]),
      Layer.provide(Layer.succeed(RefusalNotes.Bounds, { limits: {}, idleMillis: 50, afterFailureMillis: 50 })),
      Layer.provide(Database.layerPostgres(url)),
      Layer.provide(Platform.layer),
      Layer.provide(
        ConfigProvider.layerAdd(ConfigProvider.fromEnv({ env: { SMTP_PORT: `${port}`, ...env } }), { asPrimary: true })
      )
    )
  )
  const { sql } = yield* PrimaryAndStandby
  const { address } = yield* Mailbox.attach(domain).pipe(Effect.provideService(SqlClient.SqlClient, sql))
  return { port, address }
})

const message = (id: string) => `Message-ID: <${id}@sender.example>\r\nSubject: ${id}\r\n\r\n`

const stored = Effect.fnUntraced(function* (id: string) {
  const { sql } = yield* PrimaryAndStandby
  const rows = yield* sql`SELECT 1 FROM inbound_emails WHERE sha256 = sha256(${Buffer.from(message(id))}::bytea)`
  return rows.length
})

/** Cancels a statement that waits for the standby, as an operator may do. */
const cancelWait = Effect.gen(function* () {
  const { sql } = yield* PrimaryAndStandby
  yield* eventually(
    sql`SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`,
    (rows) => rows.length > 0
  )
})

describe("While the synchronous standby is gone", Needs.options(Needs.cluster), () => {
  layer(PrimaryAndStandby.layer, { excludeTestServices: true })("the primary", (it) => {
    it.effect("gives 451 for mail that no standby has, also for its retry and if the wait is cancelled", () =>
      Effect.gen(function* () {
        const { awaited, follows, primary } = yield* PrimaryAndStandby
        const { address, port } = yield* mailServer(primary, "cancelled.example")
        yield* awaited(true)
        yield* follows(false)
        // First, so that its statement is the only one that waits.
        for (const id of ["cancelled", "timed-out"]) {
          const reply = yield* Effect.forkChild(Mailbox.deliver(port, address, message(id)))
          if (id === "cancelled") yield* cancelWait
          assert.match(yield* Fiber.join(reply), /^451 4\.3\.0 /, id)
          // The primary has committed and shows it.
          assert.strictEqual(yield* stored(id), 1, id)
        }
        const retries = Effect.forEach(
          ["timed-out", "cancelled"],
          (id) => Mailbox.deliver(port, address, message(id)),
          {
            concurrency: 2
          }
        )
        for (const reply of yield* retries) assert.match(reply, /^451 4\.3\.0 /)
        yield* follows(true)
        for (const reply of yield* retries) assert.match(reply, /^250 /)
        assert.deepStrictEqual([yield* stored("timed-out"), yield* stored("cancelled")], [1, 1])
        yield* awaited(false)
      })
    )

    it.effect("gives 451 for its retry where each client address has a limit, too", () =>
      Effect.gen(function* () {
        const { awaited, follows, primary } = yield* PrimaryAndStandby
        const { address, port } = yield* mailServer(primary, "limited.example", {
          MAX_EMAILS_PER_SENDER_PER_DAY: "100"
        })
        yield* awaited(true)
        yield* follows(false)
        assert.match(yield* Mailbox.deliver(port, address, message("limited")), /^451 4\.3\.0 /)
        assert.strictEqual(yield* stored("limited"), 1)
        assert.match(yield* Mailbox.deliver(port, address, message("limited")), /^451 4\.3\.0 /)
        yield* follows(true)
        assert.match(yield* Mailbox.deliver(port, address, message("limited")), /^250 /)
        yield* awaited(false)
      })
    )
  })
})
