import { X509Certificate } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, type Duration, Effect, Fiber, Latch, type Layer, Option, Redacted, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { eventually } from "../Eventually.ts"
import { Acme, type Mishap, type Resource } from "../simulators/Acme.ts"
import * as World from "./World.ts"

const serial = Effect.map(World.current, (found) =>
  Option.isNone(found) ? "none" : new X509Certificate(found.value.chain).serialNumber
)

/** One test in a world of its own. */
const test = <A, E>(
  title: string,
  body: () => Effect.Effect<A, E, Layer.Success<ReturnType<typeof World.layer>> | Scope.Scope>
) => it.live(title, () => Effect.scoped(Effect.provide(Effect.suspend(body), World.layer())))

const hour = 3_600_000

describe("An order", () => {
  test("gives the mail server a certificate for its host with a private key that the database has encrypted", () =>
    Effect.gen(function* () {
      const acme = yield* Acme
      assert.strictEqual(yield* serial, "none")
      yield* World.order()
      const { chain, key } = yield* Effect.flatMap(World.current, Effect.fromOption)
      const certificate = new X509Certificate(chain)
      assert.isTrue(certificate.verify(new X509Certificate(acme.root).publicKey))
      assert.strictEqual(certificate.checkHost(World.host), World.host)
      assert.isNotEmpty(Redacted.value(key))
      const row = yield* World.row
      assert.notInclude(`${Buffer.from(row.key ?? [])}`, "PRIVATE KEY")
      assert.notInclude(`${Buffer.from(row.accountKey ?? [])}`, "PRIVATE KEY")
      assert.deepStrictEqual(acme.contacts(), ["mailto:operator@inlet.test"])
    }))

  test("leaves no answer behind at the challenge URL, and no lease", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* World.order()
      assert.deepStrictEqual(yield* sql`SELECT token FROM certificate_challenges`, [])
      assert.deepInclude(yield* World.row, { lease: null, orderUrl: null, failures: 0, problem: null })
    }))

  test("is placed once by two processes that start together", () =>
    Effect.gen(function* () {
      const acme = yield* Acme
      yield* Effect.all([World.order(), World.order()], { concurrency: 2 })
      assert.strictEqual(acme.asked("newOrder"), 1)
      assert.strictEqual(acme.issued.length, 1)
      assert.strictEqual(acme.accounts(), 1)
    }))

  test("comes at two thirds of the life of the certificate, with the same account and another key", () =>
    Effect.gen(function* () {
      const acme = yield* Acme
      yield* World.order()
      const first = yield* Effect.flatMap(World.current, Effect.fromOption)
      // Of 90 days, the certificate began an hour ago.
      yield* World.pass(59 * 24)
      yield* World.order()
      assert.strictEqual(acme.issued.length, 1)
      yield* World.pass(3 * 24)
      yield* World.order()
      assert.strictEqual(acme.issued.length, 2)
      assert.strictEqual(acme.accounts(), 1)
      const second = yield* Effect.flatMap(World.current, Effect.fromOption)
      assert.notStrictEqual(Redacted.value(second.key), Redacted.value(first.key))
      assert.notStrictEqual(second.chain, first.chain)
    }))

  test("is continued by another process after a kill, and not placed again", () =>
    Effect.gen(function* () {
      const acme = yield* Acme
      const reached = yield* Deferred.make<void>()
      yield* acme.mishaps("cert", { hold: Effect.andThen(Deferred.succeed(reached, undefined), Effect.never) })
      const process = yield* Effect.forkScoped(World.order())
      yield* Deferred.await(reached)
      const sql = yield* SqlClient.SqlClient
      const [held] = yield* sql`SELECT lease, leased_until, order_key, order_url FROM certificates`
      yield* Fiber.interrupt(process)
      // A killed process releases nothing.
      yield* sql`UPDATE certificates SET lease = ${held?.lease}, leased_until = ${held?.leasedUntil}, pause_seconds = 60`
      yield* World.order()
      assert.strictEqual(yield* serial, "none")
      yield* World.pass(0.02)
      yield* World.order()
      assert.notStrictEqual(yield* serial, "none")
      assert.strictEqual(acme.asked("newOrder"), 1)
      assert.strictEqual(acme.issued.length, 1)
    }))

  test("that another process has taken over does not store its certificate", () =>
    Effect.gen(function* () {
      const acme = yield* Acme
      const sql = yield* SqlClient.SqlClient
      yield* acme.mishaps("cert", {
        hold: Effect.orDie(sql`UPDATE certificates SET lease = '01981c9e-4f00-7000-8000-000000000001'`)
      })
      yield* World.order()
      assert.strictEqual(yield* serial, "none")
    }))
})

describe("A refused order", () => {
  test("leaves the certificate in use, and says what to do", () =>
    Effect.gen(function* () {
      const acme = yield* Acme
      yield* World.order()
      const before = yield* serial
      yield* World.pass(70 * 24)
      yield* acme.looks(() => Effect.succeed({ type: "connection", detail: "192.0.2.1: Connection refused" }))
      yield* World.order()
      assert.strictEqual(yield* serial, before)
      const { failures, problem } = yield* World.row
      assert.strictEqual(failures, 1)
      assert.match(
        `${problem}`,
        /Connection refused\. Port 80 of mx\.inlet\.test is not reached\. Open it, and forward/
      )
      assert.isTrue(World.logged.some((line) => line.includes("was not renewed. The one in use stays")))
    }))

  test("is repeated after 15 minutes, and at most four times in the first three hours", () =>
    Effect.gen(function* () {
      const acme = yield* Acme
      yield* acme.looks(() => Effect.succeed("another server"))
      yield* World.order()
      yield* World.pass(0.19)
      yield* World.order()
      assert.strictEqual(acme.asked("newOrder"), 1)
      for (let minutes = 12; minutes < 180; minutes += 3) {
        yield* World.pass(0.05)
        yield* World.order()
      }
      assert.isAtLeast(acme.asked("newOrder"), 3)
      assert.isAtMost(acme.asked("newOrder"), 4)
    }))

  test("is placed anew if its certificate is not usable", () =>
    Effect.gen(function* () {
      const acme = yield* Acme
      yield* acme.life(3_600_000, -3_600_000)
      yield* World.order()
      const { orderUrl, problem } = yield* World.row
      assert.match(`${problem}`, /not usable: it ends before it begins/)
      assert.isNull(orderUrl)
      yield* acme.life(-3_600_000, 90 * 86_400_000)
      yield* World.pass(1)
      yield* World.order()
      assert.strictEqual(acme.asked("newOrder"), 2)
      assert.isNull((yield* World.row).problem)
    }))

  test("waits as long as the authority says in Retry-After", () =>
    Effect.gen(function* () {
      const acme = yield* Acme
      yield* acme.mishaps("newOrder", {
        status: 429,
        type: "rateLimited",
        detail: "too many certificates already issued",
        retryAfter: "36000"
      })
      yield* World.order()
      assert.include(`${(yield* World.row).problem}`, "too many certificates already issued")
      yield* World.pass(9.9)
      yield* World.order()
      assert.strictEqual(acme.asked("newOrder"), 1)
      yield* World.pass(0.2)
      yield* World.order()
      assert.notStrictEqual(yield* serial, "none")
    }))

  /** Looks at the host some time after its answer. */
  const looksAfter = (duration: Duration.Input) =>
    Effect.gen(function* () {
      const acme = yield* Acme
      const services = yield* Effect.context<SqlClient.SqlClient>()
      yield* acme.looks(({ token }) =>
        Effect.delay(Effect.orDie(Effect.provide(World.answered(token), services)), duration)
      )
      return acme
    })

  test("is looked at as often as the authority says in Retry-After", () =>
    Effect.gen(function* () {
      const acme = yield* looksAfter("300 millis")
      yield* acme.mishaps("authz", { wait: "9" }, { wait: "1" })
      yield* World.order()
      assert.notStrictEqual(yield* serial, "none")
      // To find the challenge, while the authority looks, and after a second: not every 10 ms.
      assert.isAtMost(acme.asked("authz"), 5)
    }))

  test("ends within its time, and keeps its proof, if Retry-After names a day", () =>
    Effect.gen(function* () {
      const acme = yield* looksAfter("300 millis")
      yield* acme.mishaps("authz", { wait: "0" }, { wait: "86400" })
      yield* World.order()
      assert.notStrictEqual(yield* serial, "none")
      assert.strictEqual(acme.asked("newOrder"), 1)
    }))

  const faults: ReadonlyArray<readonly [string, Resource, Mishap, RegExp]> = [
    ["is unavailable", "newOrder", { status: 503, type: "serverInternal", detail: "Maintenance" }, /says: Maintenance/],
    ["breaks the connection", "newAccount", "lost", /does not answer \(ECONNRESET\)/],
    ["redirects", "directory", { redirect: "http://127.0.0.1:9/" }, /HTTP status 302/],
    ["sends a large answer", "directory", { bytes: 1_000_000 }, /does not answer \(ERR_BAD_RESPONSE\)/],
    ["sends no ACME", "directory", { bytes: 10 }, /gave an answer that is not ACME/],
    [
      "refuses the order before it looks at the host",
      "newOrder",
      { status: 403, type: "unauthorized", detail: "Not this name" },
      /says: Not this name$/
    ],
    [
      "does not issue for the host",
      "newOrder",
      { status: 400, type: "rejectedIdentifier", detail: "Forbidden by policy" },
      /Forbidden by policy\. The authority does not issue for mx\.inlet\.test\. Check MX_HOST/
    ]
  ]
  for (const [what, resource, mishap, expected] of faults) {
    test(`says why if the authority ${what}, and the next one succeeds`, () =>
      Effect.gen(function* () {
        const acme = yield* Acme
        yield* acme.mishaps(resource, mishap)
        yield* World.order()
        assert.match(`${(yield* World.row).problem}`, expected)
        yield* World.pass(1)
        yield* World.order()
        assert.notStrictEqual(yield* serial, "none")
      }))
  }

  test("says nothing of the host and has another account next time if the authority has deactivated the account", () =>
    Effect.gen(function* () {
      const acme = yield* Acme
      yield* acme.mishaps("newAccount", { status: 403, type: "unauthorized", detail: "The account is deactivated" })
      yield* World.order()
      assert.match(
        `${(yield* World.row).problem}`,
        /The account is deactivated\. Inlet makes another account with the next attempt$/
      )
      assert.strictEqual(acme.accounts(), 0)
      yield* World.pass(1)
      yield* World.order()
      assert.notStrictEqual(yield* serial, "none")
      yield* World.pass(70 * 24)
      yield* acme.mishaps("newAccount", { status: 403, type: "unauthorized", detail: "The account is deactivated" })
      yield* World.order()
      yield* World.pass(1)
      yield* World.order()
      assert.strictEqual(acme.accounts(), 2)
    }))

  test("ends after a few requests if the authority names no URL of the account", () =>
    Effect.gen(function* () {
      const acme = yield* Acme
      yield* acme.mishaps("newAccount", ...Array.from({ length: 200 }, () => ({ bytes: 10 })))
      yield* World.order()
      assert.match(`${(yield* World.row).problem}`, /gave an answer that is not ACME/)
      assert.isAtMost(acme.asked("newAccount"), 20)
    }))

  test("asks nothing more once its process has ended it", () =>
    Effect.gen(function* () {
      const acme = yield* Acme
      const gate = yield* Latch.make()
      yield* acme.mishaps("newNonce", { hold: gate.await })
      const order = yield* Effect.forkChild(World.order())
      yield* eventually(
        Effect.sync(() => acme.asked("newNonce")),
        (asked) => asked === 1
      )
      yield* Fiber.interrupt(order)
      yield* gate.open
      yield* World.order()
      assert.notStrictEqual(yield* serial, "none")
      assert.strictEqual(acme.asked("newAccount"), 1)
    }))

  test("does not count a bad nonce, which the authority may answer at any time", () =>
    Effect.gen(function* () {
      const acme = yield* Acme
      yield* acme.mishaps("newAccount", "badNonce")
      yield* acme.mishaps("finalize", "badNonce", "badNonce")
      yield* World.order()
      assert.notStrictEqual(yield* serial, "none")
      assert.strictEqual((yield* World.row).failures, 0)
    }))

  test("ends if the authority is too slow, and the next one continues it", () =>
    Effect.gen(function* () {
      const acme = yield* Acme
      yield* acme.looks(() => Effect.never)
      yield* World.order({ patience: 50 })
      assert.match(`${(yield* World.row).problem}`, /took too long/)
      yield* World.lookHere
      yield* World.pass(1)
      yield* World.order()
      assert.notStrictEqual(yield* serial, "none")
      assert.strictEqual(acme.asked("newOrder"), 1)
    }))

  test("with a lost answer to its last request downloads the certificate instead of ordering another one", () =>
    Effect.gen(function* () {
      const acme = yield* Acme
      yield* acme.mishaps("finalize", "lost")
      yield* World.order()
      assert.strictEqual((yield* World.row).failures, 1)
      yield* World.pass(1)
      yield* World.order()
      assert.notStrictEqual(yield* serial, "none")
      assert.strictEqual(acme.asked("newOrder"), 1)
      assert.strictEqual(acme.issued.length, 1)
    }))
})

describe("A clock jump", () => {
  test("forward by a year orders one certificate, and at most four in a week while the clock is wrong", () =>
    Effect.gen(function* () {
      const acme = yield* Acme
      yield* World.order()
      yield* World.pass(365 * 24)
      // What the authority issues then has ended long ago for this clock.
      yield* acme.life(-365 * 24 * hour, -275 * 24 * hour)
      for (let halfDays = 0; halfDays < 14; halfDays++) {
        yield* World.order()
        yield* World.pass(12)
      }
      assert.isAtLeast(acme.issued.length, 2)
      assert.isAtMost(acme.issued.length, 1 + 4)
    }))

  test("back by a year keeps the certificate, and a pause does not last longer", () =>
    Effect.gen(function* () {
      const acme = yield* Acme
      yield* acme.mishaps("newOrder", { status: 429, type: "rateLimited", detail: "Later", retryAfter: "3600" })
      yield* World.order()
      yield* World.pass(-365 * 24)
      yield* World.order()
      const issued = yield* serial
      assert.notStrictEqual(issued, "none")
      yield* World.pass(-365 * 24)
      yield* World.order()
      assert.strictEqual(yield* serial, issued)
      assert.strictEqual(acme.issued.length, 1)
    }))

  test("back by a year ends the lease of a killed process", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { directory } = yield* Acme
      yield* sql`
        INSERT INTO certificates (host, directory, lease, leased_until)
        VALUES (${World.host}, ${directory}, '01981c9e-4f00-7000-8000-000000000001', now() + interval '1 year')
      `
      yield* World.order()
      assert.notStrictEqual(yield* serial, "none")
    }))
})

describe("A private key", () => {
  test("is in no log line and in nothing that the authority is sent", () =>
    Effect.gen(function* () {
      const acme = yield* Acme
      yield* acme.mishaps("newOrder", { status: 500, type: "serverInternal", detail: "Sorry" })
      yield* World.order()
      yield* World.pass(1)
      yield* World.order()
      const { key } = yield* Effect.flatMap(World.current, Effect.fromOption)
      const body = Redacted.value(key).split("\n")[1] ?? ""
      assert.isAbove(body.length, 60)
      const said = `${World.logged.join("\n")}\n${acme.heard()}`
      assert.include(said, "issued a certificate")
      assert.notInclude(said, body)
      assert.notInclude(said, "PRIVATE KEY")
    }))
})
