import { createHash } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { EventFeed } from "../../src/delivery/EventFeed.ts"
import { Handover } from "../../src/delivery/Handover.ts"
import { DomainId, DomainName } from "../../src/model/Domain.ts"
import { InboundEmailId } from "../../src/model/InboundEmail.ts"
import { EventId } from "../../src/model/InboundEvent.ts"
import { catchAll, catchAllOf } from "../../src/model/Webhook.ts"
import { WorkspaceId } from "../../src/model/Workspace.ts"
import { MailScanner } from "../../src/providers/scanner/MailScanner.ts"
import { RawStore } from "../../src/providers/storage/RawStore.ts"
import { RawDamaged } from "../../src/providers/storage/RawStoreError.ts"
import * as Segments from "../../src/providers/storage/Segments.ts"
import type { Mail } from "../../src/reading/Mail.ts"
import { Reader } from "../../src/reading/Reader.ts"
import { eventually } from "../Eventually.ts"
import { TestInlet } from "../TestInlet.ts"

/** A store that notes how many messages are loaded at a time. */
const slowStore = Effect.sync(() => {
  let loading = 0
  let most = 0
  const get = () =>
    Effect.sync(() => {
      most = Math.max(most, ++loading)
    }).pipe(
      Effect.andThen(Effect.sleep("50 millis")),
      Effect.ensuring(Effect.sync(() => loading--)),
      Effect.andThen(Effect.fail(new RawDamaged({ reason: "it has no bytes" })))
    )
  return { store: Layer.mock(RawStore, { get, segments: Segments.none }), most: () => most }
})

const mebibyte = 1_024 * 1_024

const silentScanner = Layer.succeed(MailScanner, { isActive: true, scan: () => Effect.never })

interface Inbox {
  readonly address: string
  readonly domainId: string
}

/** Rows of messages that no process has read, of 16 MiB by default. */
const leave = Effect.fnUntraced(function* ({ address, domainId }: Inbox, count: number, message?: Uint8Array) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    INSERT INTO inbound_emails (
      id, domain_id, received_at, sha256, mail_from, helo, remote_address, recipients, state, read_attempts,
      trace_bytes, segment, raw_at, raw_bytes
    )
    SELECT gen_random_uuid(), ${domainId}, now(), ${createHash("sha256")
      .update(message ?? "")
      .digest()}::bytea, '', 'client.example', '203.0.113.9',
      ARRAY[${address}::text], 'received', 0, 0, gen_random_uuid(), 0, ${message?.byteLength ?? 16 * mebibyte}::int
    FROM generate_series(1, ${count})
  `
})

/** A reader of another process, with this raw store. */
const readerWith = (store: Layer.Layer<RawStore>, scanner = MailScanner.layerNone) =>
  Effect.map(
    Layer.build(Layer.fresh(Reader.layer).pipe(Layer.provide([store, EventFeed.layer, Handover.layerNone, scanner]))),
    Context.get(Reader)
  )

// Without a worker, which would read them.
layer(TestInlet.layer({ ROLES: "http", SENDER_CHECKS: "false" }), { excludeTestServices: true })(
  "Messages left by a crash",
  (it) => {
    it.effect("are loaded with 32 MiB at a time", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const sql = yield* SqlClient.SqlClient
        const inboxes = yield* Effect.replicateEffect(inlet.inbox(), 4)
        for (const inbox of inboxes) yield* leave(inbox, 3)
        const { most, store } = yield* slowStore
        const claimed = yield* (yield* readerWith(store)).claimLeftOver([])
        assert.lengthOf(claimed, 12)
        yield* Effect.forEach(claimed, ({ read }) => read, { concurrency: "unbounded" })
        assert.strictEqual(most(), 2)
        assert.lengthOf(yield* sql`SELECT 1 FROM inbound_emails WHERE state = 'read'`, 12)
      })
    )

    it.effect("are claimed for each tenant in turn, at most 8 at once, whatever its domains", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const sql = yield* SqlClient.SqlClient
        const [small, large] = [yield* inlet.inbox(), yield* inlet.inbox()]
        const workspaceOf = ({ domainId }: Inbox) =>
          Effect.map(
            sql<{ readonly id: string }>`SELECT workspace_id AS id FROM domains WHERE id = ${domainId}`,
            ([found]) => found?.id ?? ""
          )
        const [few, many] = [yield* workspaceOf(small), yield* workspaceOf(large)]
        const more = yield* Effect.replicateEffect(inlet.inbox(), 2)
        yield* sql`
          UPDATE domains SET workspace_id = ${many}, origin = 'byo' WHERE id = ANY(${more.map(({ domainId }) => domainId)}::uuid[])
        `
        for (const inbox of [large, ...more]) yield* leave(inbox, 4)
        yield* leave(small, 1)
        const { store } = yield* slowStore
        const { claimLeftOver } = yield* readerWith(store)
        const tenants = Effect.fnUntraced(function* (...except: ReadonlyArray<string>) {
          return (yield* claimLeftOver(except)).map(({ tenant }) => tenant).sort()
        })
        assert.deepStrictEqual(yield* tenants(many), [few])
        assert.deepStrictEqual(
          yield* tenants(few),
          Array.from({ length: 8 }, () => many)
        )
        assert.lengthOf(yield* tenants(), 4)
      })
    )

    it.effect("leave the memory that is kept for new small messages", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* inlet.inbox()
        const sql = yield* SqlClient.SqlClient
        yield* sql`DELETE FROM inbound_emails`
        const message = new Uint8Array(4 * mebibyte)
        yield* leave(inbox, 4, message)
        let loaded = 0
        const get = () =>
          Effect.sync(() => {
            loaded++
            return message
          })
        const reader = yield* readerWith(Layer.mock(RawStore, { get, segments: Segments.none }), silentScanner)
        const newMail = (bytes: number): Mail => ({
          id: InboundEmailId.make(SecureRandom.uuidV7Unsafe()),
          domainId: DomainId.make(inbox.domainId),
          domain: DomainName.make("new.example"),
          workspaceId: WorkspaceId.make(SecureRandom.uuidV7Unsafe()),
          envelope: { from: "", helo: "client.example", remoteAddress: "203.0.113.9" },
          recipients: [
            {
              eventId: EventId.make(SecureRandom.uuidV4Unsafe()),
              address: inbox.address,
              route: { id: catchAllOf(DomainId.make(inbox.domainId)), pattern: catchAll, action: "webhook" }
            }
          ],
          readRecipients: 0,
          receivedAt: 0,
          sha256: new Uint8Array(),
          traceBytes: 0,
          rules: [],
          spamAction: "tag",
          verdicts: null,
          message: undefined,
          place: null,
          storedMs: null,
          bytes,
          attempt: 1
        })
        while (reader.reserve(newMail(mebibyte))) {}
        const claimed = yield* reader.claimLeftOver([])
        yield* Effect.forEach(claimed, ({ read }) => Effect.forkScoped(read))
        // With its copy for the scanner, a message takes 8 MiB.
        yield* eventually(
          Effect.sync(() => loaded),
          (loaded) => loaded === 4
        )
        assert.isFalse(reader.reserve(newMail(mebibyte)))
        assert.isTrue(reader.reserve(newMail(1_024)))
      })
    )
  }
)
