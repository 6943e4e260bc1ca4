import { getPriority } from "node:os"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it, layer } from "@effect/vitest"
import { ConfigProvider, Effect, Fiber, FileSystem, Layer, Metric } from "effect"
import { RequestReader } from "../../src/reading/RequestReader.ts"
import { ThreadScript } from "../../src/reading/ThreadScript.ts"
import { eventually } from "../Eventually.ts"
import { bombs } from "../mime/Bombs.ts"
import { message } from "../mime/Message.ts"
import * as Needs from "../Needs.ts"
import { quickest } from "../Quickest.ts"
import { read, threads } from "./OnThreads.ts"

const mail = (subject: string) =>
  Buffer.from(
    `Return-Path: <a@b.example>\r\nReceived: from x\r\nFrom: Ada <ada@sender.example>\r\nSubject: ${subject}\r\n\r\nHello ${subject}.\r\n`
  )

const encoded = (encoding: string, body: string, type = "text/plain") =>
  message(`Content-Type: ${type}`, `Content-Transfer-Encoding: ${encoding}`, "", body)

const counted = (name: string) =>
  Effect.map(Metric.snapshot, (all) =>
    all.flatMap(({ id, state }) =>
      id !== name ? [] : "value" in state ? [state.value] : "count" in state ? [state.count] : []
    )
  )

const countedFor = (name: string, purpose: string) =>
  Effect.map(Metric.snapshot, (all) =>
    all.flatMap(({ attributes, id, state }) =>
      id === name && attributes?.purpose === purpose && "value" in state ? [state.value] : []
    )
  )

/** A message that takes the parser noticeable time. */
const slow = bombs.find(({ name }) => name === "a field for every six bytes")?.build() ?? Buffer.alloc(0)

/** A message whose body is that of a bomb this many times over. */
const repeated = (bomb: string, times: number) =>
  Effect.sync(() => {
    const bytes = bombs.find(({ name }) => name === bomb)?.build() ?? Buffer.alloc(0)
    const text = bytes.subarray(bytes.indexOf("\r\n\r\n") + 4)
    return Buffer.concat([bytes, ...Array.from({ length: times - 1 }, () => text)])
  })

/** A message of 16 MiB that takes the parser 500 ms or more. */
const slower = repeated("iso-2022-kr text", 16)

/** The number of threads of this process with the priority of those for slow messages. */
const withLowPriority = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const threads = yield* fs.readDirectory("/proc/self/task")
  const all = yield* Effect.forEach(threads, (thread) =>
    // A thread may end before its turn.
    Effect.orElseSucceed(fs.readFileString(`/proc/self/task/${thread}/stat`), () => "")
  )
  // The niceness is the 19th field (proc_pid_stat), and the second one may have blanks.
  return all.filter((line) => line.replace(/.*\) /, "").split(" ")[16] === `${Math.min(getPriority() + 5, 19)}`).length
}).pipe(Effect.provide(NodeFileSystem.layer))

const settings = (env: Record<string, string>) => ConfigProvider.layer(ConfigProvider.fromEnv({ env }))

const options = { excludeTestServices: true } as const

/** Threads are terminated and started repeatedly, which is slow on a busy machine. */
const manyThreads = { timeout: 90_000 }

describe("The parser threads", () => {
  layer(threads(), options)("with default limits", (it) => {
    it.effect("parse many messages concurrently and independently", () =>
      Effect.gen(function* () {
        const subjects = Array.from({ length: 200 }, (_, number) => `mail ${number}`)
        const results = yield* Effect.forEach(subjects, (subject) => read(mail(subject)), { concurrency: "unbounded" })
        assert.deepStrictEqual(
          results.map(({ event }) => [event.subject, event.text.trim()]),
          subjects.map((subject) => [subject, `Hello ${subject}.`])
        )
      })
    )

    it.effect("keep the event loop free while a message of 1 MiB is parsed", () =>
      Effect.gen(function* () {
        const busy = yield* Effect.forkChild(Effect.replicateEffect(read(slow), 4, { concurrency: "unbounded" }))
        let worst = 0
        while (busy.pollUnsafe() === undefined) {
          const before = process.threadCpuUsage()
          yield* Effect.sleep("10 millis")
          const { system, user } = process.threadCpuUsage(before)
          worst = Math.max(worst, (system + user) / 1_000)
        }
        yield* Fiber.join(busy)
        // Milliseconds of CPU time, because other programs may have the cores. The messages take far more.
        assert.isBelow(worst, 300)
      })
    )

    it.effect("parse no deeper than requested", () =>
      Effect.gen(function* () {
        const headers = yield* read(mail("deep"), "headers")
        assert.deepStrictEqual([headers.parse, headers.event.subject, headers.event.text], ["headers", "deep", ""])
        const nothing = yield* read(mail("deep"), "nothing")
        assert.deepStrictEqual(
          [nothing.parse, nothing.event.subject, nothing.event.from],
          ["headers", "", "bounce@sender.example"]
        )
      })
    )

    it.effect.each([
      ["150 KB", 150_000],
      ["1 MiB", 1_048_000]
    ] as const)("parse a run of %s of spaces before a letter in full within 1 s", ([, size]) =>
      Effect.gen(function* () {
        yield* read(mail("to begin with"))
        const before = yield* counted("inlet_parser_threads_lost_total")
        const parsed = Effect.map(
          read(encoded("quoted-printable", `Hello=\r\n${" ".repeat(size)}x`)),
          ({ event, parse }) => {
            assert.strictEqual(parse, "full")
            assert.strictEqual(event.text.length, "Hello".length + size + 1)
          }
        )
        assert.isBelow(yield* quickest(parsed), 1_000)
        assert.deepStrictEqual(yield* counted("inlet_parser_threads_lost_total"), before)
      })
    )

    it.effect("retry a damaged part with a more lenient decoder, as text and as attachment", () =>
      Effect.gen(function* () {
        // With a parity bit in each byte, which is invalid by RFC 2045.
        const body = [...Buffer.from("Hello").toString("base64")].map((letter) => letter.charCodeAt(0) | 0x80)
        const { event, parse } = yield* read(encoded("base64", String.fromCharCode(...body)))
        assert.deepStrictEqual([parse, event.text], ["full", "Hello"])
        const { attachment } = yield* RequestReader
        const file = yield* attachment(encoded("base64", String.fromCharCode(...body), "application/x"), 0)
        assert.strictEqual(Buffer.from(file?.content ?? []).toString(), "Hello")
      })
    )

    it.effect("return no attachment for an unknown index", () =>
      Effect.gen(function* () {
        const { attachment } = yield* RequestReader
        assert.isUndefined(yield* attachment(mail("none"), 0))
      })
    )
  })

  layer(threads(), options)("beside a tenant with slow messages", (it) => {
    it.effect("parse another tenant's message before that tenant's second one", () =>
      Effect.gen(function* () {
        yield* read(slow, "full", "heavy")
        const order: Array<string> = []
        const noted = (name: string, message: Uint8Array, tenant: string) =>
          Effect.andThen(
            read(message, "full", tenant),
            Effect.sync(() => order.push(name))
          )
        const heavy = Array.from({ length: 6 }, (_, number) => noted(`heavy ${number + 1}`, slow, "heavy"))
        yield* Effect.all([...heavy, noted("light", mail("light"), "light")], { concurrency: "unbounded" })
        assert.isBelow(order.indexOf("light"), 2)
        assert.deepStrictEqual(
          order.filter((name) => name !== "light"),
          [1, 2, 3, 4, 5, 6].map((number) => `heavy ${number}`)
        )
      })
    )

    it.effect("start one more thread for slow messages, and parse others beside it", () =>
      Effect.gen(function* () {
        yield* Effect.replicateEffect(read(slow, "full", "heavy"), 4, { concurrency: "unbounded" })
        yield* eventually(countedFor("inlet_parser_threads", "delivery"), ([threads]) => threads === 2)
        const order: Array<string> = []
        const noted = (name: string, message: Uint8Array, tenant: string) =>
          Effect.andThen(
            read(message, "full", tenant),
            Effect.sync(() => order.push(name))
          )
        const heavy = Effect.replicateEffect(noted("heavy", slow, "heavy"), 8, { concurrency: "unbounded" })
        const light = Effect.replicateEffect(noted("light", mail("light"), "light"), 5)
        yield* Effect.all([heavy, light], { concurrency: "unbounded" })
        assert.strictEqual(order.at(-1), "heavy")
      })
    )
  })

  layer(threads(), options)("beside a new tenant with many large messages", (it) => {
    it.effect("hold them until the first of them shows what they cost", () =>
      Effect.gen(function* () {
        yield* read(mail("to begin with"))
        const order: Array<string> = []
        const noted = (name: string, message: Uint8Array) =>
          Effect.andThen(
            read(message, "full", name),
            Effect.sync(() => order.push(name))
          )
        const large = Effect.replicateEffect(noted("large", slow.subarray(0, 102_400)), 8, { concurrency: "unbounded" })
        yield* Effect.all([large, noted("light", mail("light"))], { concurrency: "unbounded" })
        assert.isBelow(order.indexOf("light"), 2)
      })
    )
  })

  layer(threads(), options)("that have parsed nothing before", (it) => {
    it.effect("start no other thread for large attachments of a new tenant", () =>
      Effect.gen(function* () {
        // Mostly the time in which V8 compiles the parser.
        yield* read(mail("the first"), "full", "new")
        const attached = encoded("base64", "A".repeat(300_000), "application/octet-stream")
        const all = yield* Effect.replicateEffect(read(attached, "full", "new"), 20, { concurrency: "unbounded" })
        assert.isTrue(all.every(({ parse }) => parse === "full"))
        assert.deepStrictEqual(yield* countedFor("inlet_parser_threads", "delivery"), [1])
      })
    )
  })

  describe("when slow messages of several new tenants come at once", () => {
    it.live.each([
      { what: "as large as they are slow", size: undefined },
      { what: "of a size that is mostly fast", size: 102_400 }
    ])("parse one of them, and the others only beside a second thread ($what)", ({ size }) =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const gate = `${yield* fs.makeTempDirectoryScoped({ prefix: "inlet-gate-" })}/open`
        const script = new URL("./HeldThread.ts", import.meta.url)
        script.searchParams.set("gate", gate)
        const pool = yield* Layer.build(threads()).pipe(Effect.provideService(ThreadScript, script))
        yield* Effect.gen(function* () {
          yield* read(mail("to begin with"))
          // The others are small, because the second thread has little of a busy machine.
          const messages = [yield* slower, ...Array.from({ length: 5 }, () => slow.subarray(0, size))]
          let parsed = 0
          const heavy = yield* Effect.forkChild(
            Effect.forEach(
              messages,
              (bytes, number) =>
                Effect.andThen(
                  read(bytes, "full", `heavy ${number}`),
                  Effect.sync(() => parsed++)
                ),
              { concurrency: "unbounded" }
            )
          )
          // Each waits for an answer, in which the thread could begin another slow message.
          while (parsed === 0) yield* read(mail("light"), "full", "light")
          yield* Effect.replicateEffect(read(mail("light"), "full", "light"), 20)
          assert.strictEqual(parsed, 1)
          yield* fs.writeFileString(gate, "")
          yield* Fiber.join(heavy)
          assert.strictEqual(parsed, 6)
        }).pipe(Effect.provide(pool))
      }).pipe(Effect.provide(NodeFileSystem.layer))
    )
  })

  layer(threads({ slowMilliseconds: 0 }), options)(
    "with more slow messages of a tenant than a thread can hold",
    (it) => {
      it.effect("parse them all", () =>
        Effect.gen(function* () {
          yield* read(mail("to begin with"))
          const all = yield* Effect.replicateEffect(read(mail("many")), 1_500, { concurrency: "unbounded" })
          assert.deepStrictEqual(new Set(all.map(({ parse }) => parse)), new Set(["full"]))
        })
      )
    }
  )

  layer(threads({ waitMilliseconds: 0, crowdedMilliseconds: 0, surplusMilliseconds: 500 }), options)(
    "with mail waiting",
    (it) => {
      it.effect(
        "grow by one while messages wait, and shrink after an idle period",
        () =>
          Effect.gen(function* () {
            const running = countedFor("inlet_parser_threads", "delivery")
            yield* read(mail("to begin with"))
            assert.deepStrictEqual(yield* running, [1])
            // The first ones show that the tenant's messages are slow.
            const many = yield* Effect.forkChild(Effect.replicateEffect(read(slow), 20, { concurrency: "unbounded" }))
            yield* eventually(running, ([threads = 0]) => threads > 1)
            yield* Fiber.join(many)
            yield* eventually(running, ([threads]) => threads === 1)
            assert.strictEqual((yield* read(mail("afterwards"))).event.subject, "afterwards")
          }),
        manyThreads
      )
    }
  )

  layer(threads({ waitMilliseconds: 200, crowdedMilliseconds: 60_000 }), options)(
    "with mail waiting for a single message",
    (it) => {
      it.effect(
        "grow by one while that message is parsed",
        () =>
          Effect.gen(function* () {
            yield* read(mail("to begin with"))
            const long = yield* Effect.forkChild(read(yield* slower))
            const behind = yield* Effect.forkChild(Effect.replicateEffect(read(slow), 8, { concurrency: "unbounded" }))
            yield* eventually(countedFor("inlet_parser_threads", "delivery"), ([threads = 0]) => threads > 1)
            yield* Fiber.join(behind)
            yield* Fiber.join(long)
          }),
        manyThreads
      )
    }
  )

  layer(threads({ parseMilliseconds: 100, parseMillisecondsPerMiB: 0 }), options)("with a short time limit", (it) => {
    it.effect(
      "are terminated when a message exceeds it, and the event has less content",
      () =>
        Effect.gen(function* () {
          yield* read(mail("to begin with"))
          const { event, parse } = yield* read(yield* slower)
          assert.strictEqual(parse, "headers")
          assert.strictEqual(event.envelope.from, "bounce@sender.example")
        }),
      manyThreads
    )
  })

  layer(threads({ parseMilliseconds: 100, parseMillisecondsPerMiB: 0 }), options)(
    "with a short time limit except for a lone message",
    (it) => {
      it.effect(
        "parse the neighbors of such a message in full, while others wait for a new thread",
        () =>
          Effect.gen(function* () {
            yield* read(mail("to begin with"))
            const bytes = yield* slower
            const hostile = yield* Effect.forkChild(
              Effect.replicateEffect(read(bytes), 3, { concurrency: "unbounded" })
            )
            const subjects = Array.from({ length: 30 }, (_, number) => `innocent ${number}`)
            const results = yield* Effect.forEach(subjects, (subject) => read(mail(subject)), {
              concurrency: "unbounded"
            })
            assert.deepStrictEqual(
              results.map(({ event, parse }) => [parse, event.subject]),
              subjects.map((subject) => ["full", subject])
            )
            yield* Fiber.join(hostile)
          }),
        manyThreads
      )
    }
  )

  // The message counts as slow after 400 ms at most, and its time limit ends it later.
  layer(threads({ parseMilliseconds: 1_000, parseMillisecondsPerMiB: 0 }), options)(
    "when the only thread is lost while another one starts for slow messages",
    (it) => {
      it.effect(
        "start one more for any message",
        () =>
          Effect.gen(function* () {
            yield* read(mail("to begin with"))
            assert.strictEqual(
              (yield* read(yield* repeated("carriage returns alone", 6), "full", "new")).parse,
              "headers"
            )
            yield* eventually(countedFor("inlet_parser_threads", "delivery"), ([threads]) => threads === 2)
            // The thread sets its priority after its start, and the metric counts it before.
            yield* eventually(withLowPriority, (threads) => threads === 1)
          }),
        { ...manyThreads, ...Needs.options(Needs.threadPriorities) }
      )
    }
  )

  layer(threads({ heapMegabytes: 64 }), options)("with a low memory limit", (it) => {
    it.effect(
      "are terminated when a message exceeds it, and the next one is parsed",
      () =>
        Effect.gen(function* () {
          const { event } = yield* read(slow)
          assert.strictEqual(event.envelope.from, "bounce@sender.example")
          const next = yield* read(mail("next"))
          assert.deepStrictEqual([next.parse, next.event.subject], ["full", "next"])
        }),
      manyThreads
    )
  })

  // A thread that meets its memory limit with one large allocation takes the process with it.
  layer(threads().pipe(Layer.provide(settings({ MAX_MESSAGE_BYTES: `${25 * 1024 * 1024}` }))), options)(
    "for messages of up to 25 MiB",
    (it) => {
      it.effect("parse such a message in full in a charset with shifts", () =>
        Effect.gen(function* () {
          assert.strictEqual((yield* read(yield* repeated("iso-2022-kr text", 24))).parse, "full")
        })
      )

      it.effect("parse such a message in full whose UTF-8 is broken in every line", () =>
        Effect.gen(function* () {
          const line = `${Buffer.from("Привет мир, как дела сегодня").toString("base64").slice(0, 64)}\r\n`
          const text = encoded("base64", line.repeat((24 * 1024 * 1024) / line.length), "text/plain; charset=utf-8")
          const { event, parse } = yield* read(text)
          assert.strictEqual(parse, "full")
          assert.match(event.text, /^Привет мир.+Привет мир/s)
        })
      )
    }
  )
})
