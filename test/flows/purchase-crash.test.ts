import { assert, layer } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer, Redacted, Scope } from "effect"
import { SqlClient } from "effect/sql"
import * as Database from "../../src/database/Database.ts"
import { DnsServer } from "../DnsServer.ts"
import { eventually } from "../Eventually.ts"
import * as Gate from "../Gate.ts"
import * as InletProcess from "../InletProcess.ts"
import { addsUp, type Customer, customerOf, kindsOf, namecheapSettings, stripeSettings } from "../purchase/Shop.ts"
import * as Namecheap from "../simulators/Namecheap.ts"
import { type StripeEvent, StripeSimulator } from "../simulators/Stripe.ts"
import { type Mishap, Vendor } from "../simulators/Vendor.ts"

/** The simulator's price of .com, and the markup. */
const price = 1_028 + 299

const refusal = (name: string): Mishap => ({ error: 2030280, text: "TLD is not supported in API", name })

const allRoles = "http,smtp,worker"

/** One installation whose process is killed and restarted. It reaches the simulators through gates. */
class Machine extends Context.Service<
  Machine,
  {
    readonly registrarGate: Gate.Gate
    readonly stripeGate: Gate.Gate
    /** The running process, or a new one. */
    running(roles?: string): Effect.Effect<InletProcess.InletProcess>
    /** Sends kill -9. */
    readonly kill: Effect.Effect<void>
    /** Expires the lease of the dead process. On the embedded database, a start releases all leases. */
    readonly letLeasesExpire: Effect.Effect<void>
    /** The database, if it is a server that other processes can reach. */
    readonly sql: SqlClient.SqlClient | undefined
  }
>()("inlet/test/flows/Machine") {
  static readonly layer = (billing: "mock" | "stripe") =>
    Layer.effect(
      Machine,
      Effect.gen(function* () {
        const scope = yield* Effect.scope
        const stripe = yield* StripeSimulator
        const vendor = yield* Vendor
        const { server } = yield* DnsServer
        const installation = yield* InletProcess.installation
        const registrarGate = yield* Gate.before(vendor.url)
        const stripeGate = yield* Gate.before(stripe.url)
        const settings = {
          ...installation,
          DNS_SERVERS: server,
          REGISTRAR_PRIMARY: "namecheap",
          ...namecheapSettings(registrarGate.url),
          ...(billing === "mock" ? {} : stripeSettings({ ...stripe, url: stripeGate.url }))
        }
        const { DATABASE_URL } = installation
        const sql =
          DATABASE_URL === undefined
            ? undefined
            : Context.get(yield* Layer.build(Database.layerPostgres(Redacted.make(DATABASE_URL))), SqlClient.SqlClient)
        let process: InletProcess.InletProcess | undefined

        return Machine.of({
          registrarGate,
          stripeGate,
          sql,
          running: Effect.fnUntraced(function* (roles = allRoles) {
            process ??= yield* InletProcess.start({ ...settings, ROLES: roles }).pipe(Scope.provide(scope))
            return process
          }),
          kill: Effect.gen(function* () {
            const doomed = process ?? (yield* Effect.die("nothing runs"))
            yield* doomed.signal("SIGKILL")
            assert.deepStrictEqual(yield* doomed.ending, { code: null, signal: "SIGKILL" })
            process = undefined
          }),
          letLeasesExpire:
            sql === undefined
              ? Effect.void
              : Effect.orDie(Effect.asVoid(sql`UPDATE orders SET leased_until = now(), due_at = now()`))
        })
      })
    ).pipe(Layer.provideMerge(Layer.mergeAll(StripeSimulator.layer, Namecheap.layer, DnsServer.layer)))
}

const customerAt = Effect.fnUntraced(function* (inlet: InletProcess.InletProcess) {
  const { json } = yield* inlet.call("POST", "/api/workspaces", { body: { name: "test" } })
  return customerOf(inlet.call, { id: json.workspace_id, key: json.api_key })
})

/** The next process with the same customer. */
const afterRestart = Effect.fnUntraced(function* (customer: Customer) {
  const machine = yield* Machine
  const inlet = yield* machine.running()
  yield* machine.letLeasesExpire
  return { ...customerOf(inlet.call, customer), url: inlet.url }
})

/** Where the process is killed. */
interface Step {
  /** The gate that holds the order there, or none if no worker runs. */
  readonly held: readonly [gate: "registrar" | "stripe", call: string, which: "request" | "answer"] | undefined
  /** The registrar refuses, so that a refund follows. */
  readonly refused: boolean
  /** The status of the order at that point. */
  readonly status: string
  /** The number of registration requests, before the kill and in total. */
  readonly registrations: readonly [before: number, inAll: number]
}

const look = "Command=namecheap\\.domains\\.getInfo(&|$)"
const create = "Command=namecheap\\.domains\\.create(&|$)"
const setHosts = "Command=namecheap\\.domains\\.dns\\.setHosts(&|$)"
const refund = "metadata(\\[|%5B)order_id(\\]|%5D)"

const step = (held: Step["held"], status: string, registrations: Step["registrations"], refused = false): Step => ({
  held,
  refused,
  status,
  registrations
})

const registered = step(["registrar", create, "answer"], "registering", [1, 1])
const published = step(["registrar", setHosts, "answer"], "provisioning", [1, 1])

const steps: Readonly<Record<string, Step>> = {
  "when it is paid, before the registration": step(undefined, "paid", [0, 1]),
  "when it is registering, after the look-up": step(["registrar", look, "request"], "registering", [0, 1]),
  "when it is registering, before the registrar receives the request": step(
    ["registrar", create, "request"],
    "registering",
    [0, 1]
  ),
  "when it is registering, after the registrar has registered": registered,
  "when the domain is attached, before its records are published": step(
    ["registrar", setHosts, "request"],
    "provisioning",
    [1, 1]
  ),
  "when the records are published, before that is recorded": published,
  "when it has failed, before the refund": step(["stripe", refund, "request"], "failed", [1, 1], true),
  "when the refund is done, before that is recorded": step(["stripe", refund, "answer"], "failed", [1, 1], true)
}

/** Holds this order there, and no other. */
const hold = Effect.fnUntraced(function* ({ held }: Step, name: string, orderId = "") {
  const { registrarGate, stripeGate } = yield* Machine
  if (held === undefined) return Effect.void
  const [at, call, which] = held
  const { reached } = yield* at === "registrar"
    ? registrarGate.hold(new RegExp(`(?=.*${call})(?=.*\\b${name.replace(/\.com$/, "")}\\b)`), which)
    : stripeGate.hold(new RegExp(`${call}=${orderId}`), which)
  return reached
})

/** The state of an order when its process was killed. */
const standing = Effect.fnUntraced(function* (buyer: Customer, orderId: string, name: string) {
  const vendor = yield* Vendor
  const { status } = yield* buyer.order(orderId)
  return { status: status as string, registrations: yield* vendor.asked("register", name) }
})

/**
 * One order for each step, paid at Stripe. The process is killed when each order is at its step, and another one
 * continues.
 */
class Killed extends Context.Service<
  Killed,
  {
    readonly inlet: InletProcess.InletProcess
    readonly orders: ReadonlyArray<{
      readonly buyer: Customer
      readonly name: string
      readonly orderId: string
      readonly paid: StripeEvent
      /** Whether the order reached its step, and its state there. */
      readonly before: Effect.Effect<Effect.Success<ReturnType<typeof standing>>>
    }>
  }
>()("inlet/test/flows/Killed") {
  static readonly layer = Layer.effect(
    Killed,
    Effect.gen(function* () {
      const machine = yield* Machine
      const stripe = yield* StripeSimulator
      const vendor = yield* Vendor

      // No worker runs here, so that the next process finds all of them due at once.
      const seller = yield* machine.running("http")
      const placed = yield* Effect.forEach(Object.values(steps), (here, index) =>
        Effect.gen(function* () {
          const name = `paid-${index}.com`
          const buyer = yield* customerAt(seller)
          const { json } = yield* buyer.buy(name)
          const orderId = json.order_id as string
          const session = (yield* stripe.sessions).find((one) => one.client_reference_id === orderId)
          const paid = yield* stripe.pay(session?.id ?? "")
          assert.deepStrictEqual(yield* stripe.send(paid, `${seller.url}/api/webhooks/stripe`), [200])
          return { here, buyer, name, orderId, paid, first: yield* standing(buyer, orderId, name) }
        })
      )
      const refused = placed.flatMap(({ here, name }) => (here.refused ? [refusal(name)] : []))
      yield* vendor.mishaps("register", ...refused)
      const reached = yield* Effect.forEach(placed, ({ here, name, orderId }) => hold(here, name, orderId))
      yield* machine.kill

      const doomed = yield* machine.running()
      const orders = yield* Effect.forEach(
        placed,
        ({ buyer, first, here, name, orderId, paid }, index) =>
          Effect.gen(function* () {
            const there = yield* Effect.exit(reached[index] ?? Effect.void)
            const then = yield* standing(customerOf(doomed.call, buyer), orderId, name)
            return { buyer, name, orderId, paid, before: Effect.as(there, here.held === undefined ? first : then) }
          }),
        { concurrency: "unbounded" }
      )
      yield* machine.kill

      const inlet = yield* machine.running()
      yield* machine.letLeasesExpire
      return { inlet, orders }
    })
  )
}

layer(Killed.layer.pipe(Layer.provideMerge(Machine.layer("stripe"))), {
  excludeTestServices: true
})("kill -9 of the service, for an order paid at Stripe,", (it) => {
  for (const [index, [when, here]] of Object.entries(steps).entries()) {
    it.effect(`${when}, ends in ${here.refused ? "one refund" : "one registration and one charge"}`, () =>
      Effect.gen(function* () {
        const stripe = yield* StripeSimulator
        const vendor = yield* Vendor
        const { inlet, orders } = yield* Killed
        const { before, buyer, name, orderId, paid } = orders[index] ?? (yield* Effect.die("no such order"))
        assert.deepStrictEqual(yield* before, { status: here.status, registrations: here.registrations[0] })

        const { get, orderThatIs } = customerOf(inlet.call, buyer)
        yield* orderThatIs(orderId, here.refused ? "refunded" : "completed")
        // Stripe repeats the callback, as after a lost answer.
        assert.deepStrictEqual(yield* stripe.send(paid, `${inlet.url}/api/webhooks/stripe`), [200])

        assert.strictEqual(yield* vendor.asked("register", name), here.registrations[1])
        const payments = (yield* stripe.payments).filter(({ metadata }) => metadata.order_id === orderId)
        assert.deepStrictEqual(
          payments.map(({ amount, refunded }) => [amount, refunded]),
          [[price, here.refused ? price : 0]]
        )
        const refunds = (yield* stripe.refunds).filter(({ metadata }) => metadata.order_id === orderId)
        assert.lengthOf(refunds, here.refused ? 1 : 0)
        const { domains } = (yield* get("/api/domains")).json
        assert.deepStrictEqual(
          domains.map(({ domain }: { readonly domain: string }) => domain),
          here.refused ? [] : [name]
        )
        assert.strictEqual((yield* vendor.sale(name)) !== undefined, !here.refused)
        assert.lengthOf((yield* vendor.zone(name)) ?? [], here.refused ? 0 : 3)
      })
    )
  }
})

/** A purchase whose answer is dropped. The wallet shows its order. */
const buyUnheard = Effect.fnUntraced(function* (buyer: Customer, name: string) {
  const answer = yield* Effect.forkChild(Effect.exit(buyer.buy(name)))
  const { entries } = yield* eventually(buyer.wallet, (wallet) => wallet.entries.length === 2)
  return { orderId: entries[0].order_id as string, answer }
})

const hasServer = Effect.runSync(Effect.orDie(InletProcess.hasServer))

layer(Machine.layer("mock"), { excludeTestServices: true })(
  "kill -9 of the service, for an order paid from the wallet,",
  (it) => {
    for (const [when, here] of Object.entries({
      "when it is registering, after the registrar has registered": registered,
      "when the records are published, before that is recorded": published
    })) {
      it.effect(`${when}, ends in one registration and one charge`, () =>
        Effect.gen(function* () {
          const machine = yield* Machine
          const vendor = yield* Vendor
          const name = `${here.status}.com`
          const buyer = yield* customerAt(yield* machine.running())
          const reached = yield* hold(here, name)
          const { answer, orderId } = yield* buyUnheard(buyer, name)
          yield* reached
          yield* machine.kill
          assert.strictEqual((yield* Fiber.join(answer))._tag, "Failure")

          const again = yield* afterRestart(buyer)
          yield* again.orderThatIs(orderId, "completed")
          assert.strictEqual(yield* vendor.asked("register", name), 1)
          assert.isDefined(yield* vendor.sale(name))
          const wallet = yield* again.wallet
          assert.deepStrictEqual(kindsOf(wallet, orderId), ["debit"])
          assert.deepStrictEqual([wallet.balance_cents, addsUp(wallet)], [5_000 - price, true])
        })
      )
    }

    // These steps use only the database, and only on a server can the test lock a row.
    for (const [when, isDone] of hasServer
      ? ([
          ["when it has failed, before the refund", false],
          ["when the refund is done, before that is recorded", true]
        ] as const)
      : []) {
      it.effect(`${when}, ends in one refund`, () =>
        Effect.gen(function* () {
          const machine = yield* Machine
          const vendor = yield* Vendor
          const sql = machine.sql ?? (yield* Effect.die("there is no server"))
          const buyer = yield* customerAt(yield* machine.running())
          const name = isDone ? "done.com" : "not-done.com"
          const registering = yield* machine.registrarGate.hold(new RegExp(create), "request")
          yield* vendor.mishaps("register", refusal(name))
          const { answer, orderId } = yield* buyUnheard(buyer, name)
          yield* registering.reached

          // The refund waits for the wallet, and the following update for the order.
          const wallet = yield* lock(sql`SELECT 1 FROM wallets WHERE workspace_id = ${buyer.id} FOR UPDATE`)
          yield* registering.letGo
          yield* buyer.orderThatIs(orderId, "failed")
          yield* eventually(waiting, (rows) => rows.length === 1)
          const order = yield* lock(sql`SELECT 1 FROM orders WHERE id = ${orderId} FOR NO KEY UPDATE`)
          if (isDone) {
            yield* wallet.letGo
            yield* eventually(
              sql`SELECT 1 FROM wallet_entries WHERE order_id = ${orderId} AND kind = 'refund'`,
              (rows) => rows.length === 1
            )
            yield* eventually(waiting, (rows) => rows.length === 1)
          }
          yield* machine.kill
          // The server would finish a started statement of a dead client.
          for (const { pid } of yield* waiting) yield* sql`SELECT pg_terminate_backend(${pid})`
          yield* wallet.letGo
          yield* order.letGo
          yield* Fiber.join(answer)

          const again = yield* afterRestart(buyer)
          const after = yield* eventually(again.wallet, ({ entries }) => entries.length === 3)
          assert.deepStrictEqual(kindsOf(after, orderId), ["debit", "refund"])
          yield* eventually(
            sql`SELECT 1 FROM orders WHERE id = ${orderId} AND NOT refund_due`,
            (rows) => rows.length === 1
          )
          const { balance_cents } = yield* again.wallet
          assert.deepStrictEqual([balance_cents, addsUp(yield* again.wallet)], [5_000, true])
          assert.strictEqual((yield* again.order(orderId)).status, "failed")
        })
      )
    }
  }
)

/** Backends of this database that wait for a lock. */
const waiting = Effect.gen(function* () {
  const { sql } = yield* Machine
  return sql === undefined
    ? []
    : yield* sql<{ readonly pid: number }>`
        SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
      `
})

/** Locks rows in a transaction until they are released. */
const lock = Effect.fnUntraced(function* <E, R>(rows: Effect.Effect<unknown, E, R>) {
  const { sql } = yield* Machine
  const [taken, over] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
  const holding = yield* Effect.forkScoped(
    (sql ?? (yield* Effect.die("there is no server"))).withTransaction(
      rows.pipe(Effect.andThen(Deferred.succeed(taken, undefined)), Effect.andThen(Deferred.await(over)))
    )
  )
  yield* Deferred.await(taken)
  return { letGo: Effect.andThen(Deferred.succeed(over, undefined), Fiber.join(holding)) }
})
