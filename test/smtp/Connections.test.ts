import { assert, layer } from "@effect/vitest"
import { Effect, Metric } from "effect"
import { eventually } from "../Eventually.ts"
import * as Mail from "../Mail.ts"
import * as Mailbox from "../Mailbox.ts"
import { quickest } from "../Quickest.ts"
import * as SmtpDialog from "../SmtpDialog.ts"
import { SmtpAlone } from "./SmtpAlone.ts"

const open = (port: number, count: number, localAddress?: string) =>
  Effect.forEach(Array.from({ length: count }), () => SmtpDialog.open(port, { localAddress }), {
    concurrency: "unbounded"
  })

/** The numbers of accepted and refused connections. */
const tally = (dialogs: ReadonlyArray<{ readonly greeting: string }>) => ({
  greeted: dialogs.filter(({ greeting }) => greeting.startsWith("220 ")).length,
  refused: dialogs.filter(({ greeting }) => greeting.startsWith("421 ")).length
})

const metric = (id: string, reason?: string) =>
  Effect.map(Metric.snapshot, (all) => {
    const found = all.find((one) => one.id === id && (reason === undefined || one.attributes?.reason === reason))
    if (found?.type === "Counter") return Number(found.state.count)
    return found?.type === "Gauge" ? Number(found.state.value) : 0
  })

layer(SmtpAlone.layer({ bounds: { lookMilliseconds: 500 } }), { excludeTestServices: true })(
  "With the default limits",
  (it) => {
    it.effect("an address gets 150 of 300 connections and 421 for the rest, and another is greeted within 1 s", () =>
      Effect.gen(function* () {
        const { logged, port } = yield* SmtpAlone
        // The counter includes earlier servers of this process.
        const dismissalsBefore = yield* metric("inlet_smtp_dismissals_total", "connections_per_address")
        const dialogs = yield* open(port, 300)
        assert.deepStrictEqual(tally(dialogs), { greeted: 150, refused: 150 })
        yield* Effect.forEach(dialogs, (dialog) =>
          dialog.greeting.startsWith("421 ")
            ? Effect.map(dialog.reply, (end) => assert.strictEqual(end, ""))
            : Effect.void
        )

        const another = Effect.map(SmtpDialog.open(port, { localAddress: "127.0.0.2" }), ({ greeting }) =>
          assert.match(greeting, /^220 /)
        )
        assert.isBelow(yield* quickest(another), 1_000)

        yield* eventually(metric("inlet_smtp_connections"), (now) => now === 153)
        const dismissals = yield* metric("inlet_smtp_dismissals_total", "connections_per_address")
        assert.strictEqual(dismissals - dismissalsBefore, 150)
        const lines = yield* eventually(
          Effect.sync(() => logged.filter((line) => line.includes("connections were refused"))),
          (lines) => lines.length > 0
        )
        assert.isBelow(lines.length, 75)
        assert.include(lines[0], "127.0.0.1")
      })
    )
  }
)

layer(SmtpAlone.layer({ settings: { SMTP_MAX_CONNECTIONS_PER_IP: "3" } }), { excludeTestServices: true })(
  "An address at its connection limit",
  (it) => {
    it.effect("is refused at once, keeps its connections, and gets another for each that ends", () =>
      Effect.scoped(
        Effect.gen(function* () {
          const { port } = yield* SmtpAlone
          const [first, second, third] = yield* open(port, 3)
          const fourth = yield* SmtpDialog.open(port)
          assert.match(fourth.greeting, /^421 4\.7\.0 \S+ Too many connections from your address/)
          assert.strictEqual(yield* fourth.reply, "")
          for (const dialog of [first, second, third])
            assert.match(yield* dialog?.say("NOOP") ?? Effect.succeed(""), /^250 /)
          assert.match((yield* SmtpDialog.open(port, { localAddress: "127.0.0.2" })).greeting, /^220 /)

          assert.match(yield* first?.say("QUIT") ?? Effect.succeed(""), /^221 /)
          yield* second?.hangUp(true) ?? Effect.void
          const again = yield* eventually(Effect.map(open(port, 2), tally), ({ greeted }) => greeted > 0)
          assert.isAbove(again.greeted, 0)
        })
      )
    )

    it.effect("is not charged for ended connections, encrypted or not", () =>
      Effect.gen(function* () {
        const { port } = yield* SmtpAlone
        for (let times = 0; times < 6; times++) {
          const sent = Mail.send(port, { to: "someone@known.example" })
          assert.match(
            yield* eventually(
              Effect.orElseSucceed(sent, () => ""),
              (reply) => reply !== ""
            ),
            /^250 /
          )
        }
      })
    )
  }
)

layer(SmtpAlone.layer({ settings: { SMTP_MAX_CONNECTIONS: "4", SMTP_MAX_CONNECTIONS_PER_IP: "0" } }), {
  excludeTestServices: true
})("A server at its connection limit", (it) => {
  it.effect("takes one connection from the busiest network for the next client, and answers 421 to the others", () =>
    Effect.gen(function* () {
      const { port } = yield* SmtpAlone
      const begun = yield* Mailbox.begin(port, "someone@known.example")
      const idle = yield* open(port, 3, "127.0.0.2")
      assert.deepStrictEqual(tally(idle), { greeted: 3, refused: 0 })
      const dialogs = yield* open(port, 5, "127.0.0.3")
      assert.deepStrictEqual(tally(dialogs), { greeted: 1, refused: 4 })
      const refused = dialogs.find(({ greeting }) => greeting.startsWith("421"))
      assert.match(refused?.greeting ?? "", /^421 4\.7\.0 \S+ Too many connections; /)
      assert.match(
        yield* idle[0]?.reply ?? Effect.succeed(""),
        /^421 4\.7\.0 Too many connections, and this one is idle/
      )
      assert.match(yield* idle[1]?.say("NOOP") ?? Effect.succeed(""), /^250 /)
      assert.match(yield* Mailbox.data(begun, "Subject: goes on\r\n\r\n"), /^250 /)
    })
  )
})

layer(SmtpAlone.layer({ settings: { SMTP_MAX_CONNECTIONS: "160", SMTP_MAX_CONNECTIONS_PER_IP: "20" } }), {
  excludeTestServices: true
})("A server full of idle connections from a few addresses", (it) => {
  it.effect("accepts mail from others at once, and ends the idle connections within seconds", () =>
    Effect.gen(function* () {
      const { port } = yield* SmtpAlone
      const idleBefore = yield* metric("inlet_smtp_dismissals_total", "idle")
      const attackers = Array.from({ length: 8 }, (_, index) => `127.0.0.${index + 10}`)
      const idle = (yield* Effect.forEach(attackers, (address) => open(port, 20, address))).flat()
      assert.deepStrictEqual(tally(idle), { greeted: 160, refused: 0 })
      for (let mail = 0; mail < 10; mail++) {
        assert.match(yield* Mail.send(port, { to: "someone@known.example" }), /^250 /)
      }
      // A session with commands is not idle.
      const last = idle.at(-1)
      const talking = Effect.flatMap(last?.say("NOOP") ?? Effect.succeed(""), () => Effect.sleep("500 millis"))
      yield* Effect.raceFirst(
        eventually(metric("inlet_smtp_dismissals_total", "idle"), (ended) => ended - idleBefore >= 40),
        Effect.forever(talking)
      )
      yield* eventually(metric("inlet_smtp_connections"), (open) => open <= 121)
      assert.match(yield* last?.say("NOOP") ?? Effect.succeed(""), /^250 /)
    })
  )
})

layer(SmtpAlone.layer({ settings: { SMTP_MAX_CONNECTIONS: "0", SMTP_MAX_CONNECTIONS_PER_IP: "0" } }), {
  excludeTestServices: true
})("Without limits", (it) => {
  it.effect("an address may open any number of connections", () =>
    Effect.gen(function* () {
      const { port } = yield* SmtpAlone
      assert.deepStrictEqual(tally(yield* open(port, 200)), { greeted: 200, refused: 0 })
    })
  )
})
