import { assert, layer } from "@effect/vitest"
import { Clock, ConfigProvider, Context, Deferred, Effect, Fiber, Latch, Layer, Queue, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { EventFeed } from "../../src/delivery/EventFeed.ts"
import { Ingest } from "../../src/ingest/Ingest.ts"
import * as DataMemory from "../../src/intake/DataMemory.ts"
import { Intake } from "../../src/intake/Intake.ts"
import { DomainName } from "../../src/model/Domain.ts"
import { WorkspaceId } from "../../src/model/Workspace.ts"
import { RawStore } from "../../src/providers/storage/RawStore.ts"
import * as Segments from "../../src/providers/storage/Segments.ts"
import { Reader } from "../../src/reading/Reader.ts"
import { RefusalNotes } from "../../src/refusals/RefusalNotes.ts"
import { Simulation } from "../../src/simulate/Simulation.ts"
import { eventually } from "../Eventually.ts"
import * as Mailbox from "../Mailbox.ts"
import * as TestDatabase from "../TestDatabase.ts"

/** A raw store that hangs until the latch opens, the beginning of its writes, and the clock of its service. */
class Hanging extends Context.Service<
  Hanging,
  { readonly begun: Queue.Queue<void>; readonly works: Latch.Latch; readonly clock: TestClock.TestClock }
>()("inlet/test/Hanging") {
  static readonly layer = Layer.effect(
    Hanging,
    Effect.all({ begun: Queue.unbounded<void>(), works: Latch.make(false), clock: TestClock.make() })
  )
}

const hangingStore = Layer.unwrap(
  Effect.map(Hanging, ({ begun, works }) =>
    Layer.mock(RawStore)({
      put: () => Effect.andThen(Queue.offer(begun, undefined), Effect.as(works.await, null)),
      remove: () => Effect.void,
      segments: Segments.none
    })
  )
)

/** Room for one large message. */
const room = { MAX_MESSAGE_BYTES: "100000", SMTP_MAX_DATA_BYTES: "100000" }

const worldWith = (env: Readonly<Record<string, string>> = {}) =>
  Layer.merge(Ingest.layer, Simulation.layer).pipe(
    Layer.provideMerge(Intake.layerNoDeps),
    Layer.provideMerge(DataMemory.DataMemory.layer),
    Layer.provide([
      hangingStore,
      Layer.mock(EventFeed)({ announce: () => {}, listen: () => Effect.void }),
      Layer.mock(Reader)({ reserve: () => false, release: () => {} }),
      RefusalNotes.layerNone
    ]),
    Layer.provide(
      Layer.effect(
        Clock.Clock,
        Effect.map(Hanging, ({ clock }) => clock)
      )
    ),
    Layer.provideMerge(Layer.merge(TestDatabase.layer, Hanging.layer)),
    Layer.provide(ConfigProvider.layerAdd(ConfigProvider.fromEnv({ env: { ...room, ...env } }), { asPrimary: true }))
  )

const options = { excludeTestServices: true } as const

/** Hands a message over, and returns its refusal after 8 seconds in which the raw store hangs. */
const refusalOf = Effect.fnUntraced(function* <A, E, R>(receive: Effect.Effect<A, E, R>) {
  const { begun, clock, works } = yield* Hanging
  yield* works.close
  yield* Queue.clear(begun)
  const receiving = yield* Effect.forkChild(Effect.flip(receive))
  yield* Queue.take(begun)
  yield* clock.adjust("9 seconds")
  return yield* Fiber.join(receiving)
})

/** A domain for mail, and its rows. */
const inbox = Effect.fnUntraced(function* (name: string) {
  const sql = yield* SqlClient.SqlClient
  const { domainId } = yield* Mailbox.attach(name)
  const [domain] = yield* sql<{ readonly workspaceId: string }>`
    SELECT workspace_id FROM domains WHERE id = ${domainId}
  `
  return {
    domainId,
    domain: DomainName.make(name),
    workspaceId: WorkspaceId.make(domain?.workspaceId ?? ""),
    rows: sql`SELECT id FROM inbound_emails WHERE domain_id = ${domainId}`
  }
})

/** The memory of a message, which fills all of it, and the end of its write. */
const counted = Effect.gen(function* () {
  const memory = DataMemory.make(100)
  const ended = yield* Deferred.make<void>()
  const share = memory.enter("sender")
  share.take(100)
  return {
    leave: () => share.leave(),
    hasRoom: () => {
      const other = memory.enter("sender")
      const isTaken = other.take(100)
      other.leave()
      return isTaken
    },
    ended: Deferred.await(ended),
    keep: () => {
      const end = share.keep()
      return () => {
        end()
        Deferred.doneUnsafe(ended, Effect.void)
      }
    }
  }
})

/** A message over SMTP. */
const overSmtp = Effect.fnUntraced(function* (addresses: ReadonlyArray<string>, keep: () => () => void) {
  const intake = yield* Intake
  const client = { from: "ada@sender.example", helo: "client.example", remoteAddress: "203.0.113.9" }
  const recipients = yield* Effect.forEach(addresses, (address) => intake.admit(address, client))
  const bytes = Buffer.from("Subject: late\r\n\r\n")
  return yield* intake.receive({
    envelope: client,
    recipients,
    transmission: { extended: true, encrypted: false, utf8: false, tls: null },
    message: { byteLength: bytes.byteLength, copyInto: (target, offset) => target.set(bytes, offset), keep }
  })
})

/** Checks that a message keeps its memory after its late refusal, and until its write ends. */
const assertKept = Effect.fnUntraced(function* <A, E, R>(
  memory: Effect.Success<typeof counted>,
  receive: Effect.Effect<A, E, R>
) {
  const { works } = yield* Hanging
  yield* refusalOf(receive)
  memory.leave()
  assert.isFalse(memory.hasRoom())
  yield* works.open
  yield* memory.ended
  assert.isTrue(memory.hasRoom())
})

layer(worldWith(), options)("After a late 451 the memory is kept until the write ends", (it) => {
  it.effect("of a message for several recipients, which is not stored then", () =>
    Effect.gen(function* () {
      const { domain, rows } = yield* inbox("several.example")
      const memory = yield* counted
      yield* assertKept(memory, overSmtp([`a@${domain}`, `b@${domain}`], memory.keep))
      assert.deepStrictEqual(yield* rows, [])
    })
  )

  it.effect("of a simulated message", () =>
    Effect.gen(function* () {
      const simulation = yield* Simulation
      const { rows, ...to } = yield* inbox("simulated.example")
      const memory = yield* counted
      const message = Buffer.from("From: ada@sender.example\r\nSubject: late\r\n\r\n")
      yield* assertKept(memory, simulation.receive(to, { message, keep: memory.keep }))
      assert.deepStrictEqual(yield* rows, [])
    })
  )

  it.effect("of a message from a relay, and another is refused with 452 until then", () =>
    Effect.gen(function* () {
      const ingest = yield* Ingest
      const { begun, works } = yield* Hanging
      const { domain, domainId, rows, workspaceId } = yield* inbox("relayed.example")
      const receive = ingest.receive({
        workspaceId,
        domain: { id: domainId, domain, status: "live" },
        from: "ada@sender.example",
        recipients: [`a@${domain}`],
        client: { address: "203.0.113.9", helo: "client.example" },
        idempotencyKey: undefined,
        announced: undefined,
        body: Stream.make(Buffer.from(`Subject: late\r\n\r\n${"x".repeat(80_000)}`))
      })
      const late = yield* refusalOf(receive)
      assert.deepInclude(late, { code: 451 })
      const other = yield* Effect.forkChild(Effect.flip(receive))
      yield* Effect.raceFirst(Fiber.await(other), Queue.take(begun))
      assert.isDefined(other.pollUnsafe())
      assert.deepInclude(yield* Fiber.join(other), { code: 452 })
      yield* works.open
      yield* eventually(Effect.exit(receive), (exit) => exit._tag === "Success")
      assert.lengthOf(yield* rows, 1)
    }).pipe(Effect.ensuring(Hanging.use(({ works }) => works.open)))
  )
})

layer(worldWith({ MAX_EMAILS_PER_SENDER_PER_DAY: "10" }), options)("With a limit for each sender", (it) => {
  it.effect("a message keeps its memory after a late 451 until its write ends", () =>
    Effect.gen(function* () {
      const { domain, rows } = yield* inbox("counted.example")
      const memory = yield* counted
      yield* assertKept(memory, overSmtp([`a@${domain}`], memory.keep))
      assert.deepStrictEqual(yield* rows, [])
    })
  )
})
