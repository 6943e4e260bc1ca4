import { connect } from "node:net"
import { NodeServices } from "@effect/platform-node"
import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect, FileSystem, Layer } from "effect"
import { eventually } from "../Eventually.ts"
import * as InletProcess from "../InletProcess.ts"
import * as Mailbox from "../Mailbox.ts"
import * as Needs from "../Needs.ts"
import * as Program from "../Program.ts"
import * as SmtpDialog from "../SmtpDialog.ts"

const MiB = 1_024 * 1_024

/** The memory of a process according to the kernel. */
const residentBytes = Effect.fnUntraced(function* (inlet: InletProcess.InletProcess) {
  const fs = yield* FileSystem.FileSystem
  const status = yield* fs.readFileString(`/proc/${inlet.pid}/status`)
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1_024
})

/** The bytes that the kernel may hold of one connection, sent and not yet read, on both sides together. */
const kernelBytes = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const limits = yield* Effect.forEach(["rmem", "wmem"], (name) => fs.readFileString(`/proc/sys/net/ipv4/tcp_${name}`))
  return limits.reduce((sum, limit) => sum + Number(limit.trim().split(/\s+/).at(-1)), 0)
})

/**
 * Sends the lines, then the same chunk repeatedly until the server closes. Returns the replies and the accepted
 * bytes.
 */
const flood = (port: number, lines: ReadonlyArray<string>, piece: Buffer, most: number, { reads = true } = {}) =>
  Effect.callback<{ readonly heard: string; readonly sent: number }>((resume) => {
    let heard = ""
    let next = 0
    const socket = connect(port, "127.0.0.1").on("error", () => {})
    const pour = () => {
      while (socket.writable && socket.bytesWritten < most) if (!socket.write(piece)) return
      if (socket.writable) socket.end()
    }
    socket.on("data", (chunk) => {
      heard += chunk
      if (next < lines.length) socket.write(`${lines[next++]}\r\n`)
      else if (next++ === lines.length) {
        // Reads at the end, because a client that does not read cannot see the disconnect.
        if (!reads) socket.pause().setTimeout(1_000, () => socket.resume())
        socket.on("drain", pour)
        pour()
      }
    })
    socket.on("close", () => resume(Effect.succeed({ heard, sent: socket.bytesWritten })))
    return Effect.sync(() => void socket.destroy())
  }).pipe(Effect.timeout("20 seconds"))

const run = (pid: number, files: number) =>
  Effect.map(Program.run("prlimit", ["--pid", `${pid}`, `--nofile=${files}`]), ({ code }) =>
    assert.strictEqual(code, 0)
  )

/** The abused process, as seen by other clients. */
class Abused extends Context.Service<Abused, InletProcess.InletProcess>()("inlet/test/smtp/Abused") {
  static readonly layer = Layer.effect(
    Abused,
    Effect.gen(function* () {
      yield* Needs.demand(Needs.limits)
      return yield* InletProcess.start({ ...(yield* InletProcess.installation), LOG_LEVEL: "warn" })
    })
  )
}

describe("Linux", Needs.options(Needs.limits), () => {
  layer(Layer.merge(Abused.layer, NodeServices.layer), { excludeTestServices: true })("A process under abuse", (it) => {
    it.effect("limits its memory for any input and disconnects the sender", () =>
      Effect.gen(function* () {
        const inlet = yield* Abused
        const { address } = yield* inlet.inbox("http://127.0.0.1:9/")
        const transaction = ["EHLO client.example", "MAIL FROM:<a@sender.example>", `RCPT TO:<${address}>`, "DATA"]
        assert.match(yield* Mailbox.deliver(inlet.smtpPort, address, "Subject: warm\r\n\r\n"), /^250 /)
        const floods = [
          ["a message of 200 MB", transaction, Buffer.from(`${"x".repeat(76)}\r\n`.repeat(1_000)), {}],
          ["a command of 200 MB", ["EHLO client.example"], Buffer.alloc(64 * 1_024, "x"), {}],
          ["commands without reading the answers", [], Buffer.from("NOOP\r\n".repeat(10_000)), { reads: false }],
          [
            "recipients without reading the answers",
            transaction.slice(0, 3),
            Buffer.from(`RCPT TO:<${address}>\r\n`.repeat(2_000)),
            { reads: false }
          ]
        ] as const
        const buffered = yield* kernelBytes
        // A process grows in the first run because it compiles code and fills its heap.
        let before = Number.POSITIVE_INFINITY
        for (const [index, [name, lines, piece, how]] of [...floods, ...floods].entries()) {
          if (index === floods.length) before = yield* residentBytes(inlet)
          const { heard, sent } = yield* flood(inlet.smtpPort, lines, piece, ("reads" in how ? 40 : 200) * MiB, how)
          assert.match(heard, /^421 /m, name)
          // After a 421 the process discards further input.
          if (!("reads" in how)) assert.isBelow(sent, 16 * MiB + buffered, name)
          assert.isBelow((yield* residentBytes(inlet)) - before, 82 * MiB, name)
        }
        assert.match(yield* Mailbox.deliver(inlet.smtpPort, address, "Subject: after it\r\n\r\n"), /^250 /)
      })
    )

    it.effect("survives a lack of file descriptors and then accepts mail again", () =>
      Effect.gen(function* () {
        const inlet = yield* Abused
        const { address } = yield* inlet.inbox("http://127.0.0.1:9/")
        assert.match(yield* Mailbox.deliver(inlet.smtpPort, address, "Subject: before\r\n\r\n"), /^250 /)
        const fs = yield* FileSystem.FileSystem
        const used = (yield* fs.readDirectory(`/proc/${inlet.pid}/fd`)).length
        yield* run(inlet.pid, used + 30)
        yield* Effect.scoped(
          Effect.gen(function* () {
            const dialogs = yield* Effect.forEach(Array.from({ length: 60 }), () => SmtpDialog.open(inlet.smtpPort), {
              concurrency: "unbounded"
            })
            const greeted = dialogs.filter(({ greeting }) => greeting.startsWith("220 "))
            assert.isAbove(greeted.length, 0)
            assert.isBelow(greeted.length, dialogs.length)
            assert.match(yield* greeted[0]?.say("NOOP") ?? Effect.succeed(""), /^250 /)
            // The same for the API.
            const asked = Array.from({ length: 20 }, () =>
              inlet.call("GET", "/health").pipe(
                Effect.as("answered"),
                Effect.catchDefect(() => Effect.succeed("closed")),
                // The kernel may also delay it until a descriptor is free.
                Effect.timeoutOrElse({ duration: "3 seconds", orElse: () => Effect.succeed("waits") })
              )
            )
            yield* Effect.all(asked, { concurrency: "unbounded" })
          })
        )
        const after = Mailbox.deliver(inlet.smtpPort, address, "Subject: after\r\n\r\n").pipe(
          // An early one may remain waiting.
          Effect.timeoutOrElse({ duration: "2 seconds", orElse: () => Effect.succeed("no answer") })
        )
        yield* eventually(after, (reply) => reply.startsWith("250 "))
        assert.strictEqual((yield* inlet.call("GET", "/ready")).status, 200)
      })
    )
  })
})
