import { connect } from "node:net"
import { assert, describe, it, layer } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { MessageBytes } from "../../src/intake/MessageBytes.ts"
import * as DataStream from "../../src/smtp/DataStream.ts"
import { ReadTurns } from "../../src/smtp/ReadTurns.ts"
import { eventually } from "../Eventually.ts"
import { heldBytes } from "../HeldBytes.ts"
import * as Mailbox from "../Mailbox.ts"
import * as SmtpDialog from "../SmtpDialog.ts"
import { SmtpAlone } from "./SmtpAlone.ts"

const tenant = "a workspace"

interface Heard {
  readonly messages: ReadonlyArray<string>
  readonly commands: ReadonlyArray<string>
}

/** The interpretation of everything after DATA by RFC 5321 (sections 4.1.1.4 and 4.5.2), parsed as a whole. */
const model = (sent: string): Heard => {
  const lines = sent.split("\r\n")
  const end = lines.slice(0, -1).indexOf(".")
  if (end < 0) return { messages: [], commands: ["DATA"] }
  const message = lines.slice(0, end).map((line) => `${line.replace(/^\./, "")}\r\n`)
  const behind = lines.slice(end + 1).join("\r\n")
  return { messages: [message.join("")], commands: ["DATA", ...behind.split(/\r?\n/)].filter((line) => line !== "") }
}

/** The parser's interpretation of chunks after DATA, without empty commands. */
const read = (chunks: ReadonlyArray<Buffer>, answer = (go: () => void) => go()) =>
  Effect.callback<Heard>((resume) => {
    const messages: Array<string> = []
    const commands: Array<string> = []
    const parser = new DataStream.DataParser(() => turns)
    parser.oncommand = (command, next) => {
      const line = command.toString("latin1")
      if (line !== "") commands.push(line)
      if (line === "DATA") {
        const bytes = new MessageBytes()
        DataStream.receive(parser.startDataMode(), {
          tenant,
          take: (piece) => bytes.push(piece),
          cut: () => assert.fail("cut"),
          end: () => {
            messages.push(Buffer.from(bytes.whole()).toString("latin1"))
            answer(() => parser.continue())
          }
        })
      }
      next?.()
    }
    parser.write("DATA\r\n")
    for (const chunk of chunks) parser.write(chunk)
    parser.end(() => resume(Effect.succeed({ messages, commands })))
  })

const cutAt = (bytes: Buffer, cuts: ReadonlyArray<number>): Array<Buffer> =>
  [0, ...cuts].map((from, index) => bytes.subarray(from, cuts[index] ?? bytes.length))

const shown = (chunks: ReadonlyArray<Buffer>) => JSON.stringify(chunks.map((chunk) => chunk.toString("latin1")))

const expectModel = Effect.fnUntraced(function* (sent: string, waysToCut: Iterable<ReadonlyArray<number>>) {
  const bytes = Buffer.from(sent, "latin1")
  const expected = model(sent)
  for (const cuts of waysToCut) {
    const chunks = cutAt(bytes, cuts)
    assert.deepStrictEqual(yield* read(chunks), expected, shown(chunks))
  }
  return expected
})

/** As a whole, byte by byte, and split in two at every position. */
const inTwo = function* ({ length }: string) {
  yield []
  yield Array.from({ length: length - 1 }, (_, index) => index + 1)
  for (let cut = 1; cut < length; cut++) yield [cut]
}

/** Split in three at all positions in between. */
const inThree = function* (from: number, to: number) {
  for (let first = from; first < to; first++) for (let second = first + 1; second <= to; second++) yield [first, second]
}

const lineEnds = ["\r\n", "\n", "\r", "\r\r\n", "\n\r", "\r\0\n", "\r\n\0", "\0", "\v", "\f", "\x85", "\u001c", ""]
const dots = [".", "..", "...", ".\0", "\0.", " .", ". ", ".\r", "\r.", ".\n", "\n.", ".x", ""]
const forms = new Set(
  lineEnds.flatMap((before) => dots.flatMap((dot) => lineEnds.map((behind) => `${before}${dot}${behind}`)))
)

/** Starts of a message that resemble its end, or the reverse. */
const beginnings = [
  ".\r\n",
  "..\r\n.\r\n",
  "...\r\n.\r\n",
  "\r\n.\r\n",
  ".\r.\r\n\r\n.\r\n",
  ".\n.\r\n\r\n.\r\n",
  "\n.\r\n\r\n.\r\n",
  ".x\r\n..\r\n.\r\n",
  ".\r\r\n.\r\n",
  ".\r",
  ".",
  "",
  "x.\r\n.\r\n",
  "\r\n..\r\n...\r\n.\r\n"
]

/** Random integers below a bound, the same in every run. */
const numbersFrom = (seed: number) => {
  let state = seed
  return (bound: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * bound)
  }
}

const turns = new ReadTurns(() => 0)

describe("A DATA stream", () => {
  it.effect("ends at CRLF . CRLF only and loses dots after CRLF only, in every form and at any split", () =>
    Effect.gen(function* () {
      for (const form of forms) {
        const sent = `a${form}b\r\n.\r\nNOOP\r\n`
        const { messages } = yield* expectModel(sent, inTwo(sent))
        assert.strictEqual(messages[0]?.endsWith("b\r\n"), !form.includes("\r\n.\r\n"), JSON.stringify(form))
      }
    })
  )

  it.effect("is parsed the same in three pieces at any split", () =>
    Effect.gen(function* () {
      const short = lineEnds
        .slice(0, 6)
        .flatMap((before) => lineEnds.slice(0, 6).map((behind) => `${before}.${behind}`))
      for (const form of short) {
        const sent = `${form}.\r\n.\r\n`
        yield* expectModel(sent, inThree(1, sent.length - 1))
      }
      for (const sent of beginnings) yield* expectModel(sent, inThree(1, sent.length - 1))
    })
  )

  it.effect("may start with a single dot or a line of dots, or be empty", () =>
    Effect.gen(function* () {
      for (const sent of beginnings) yield* expectModel(sent, inTwo(sent))
      assert.deepStrictEqual(model(".\r\n").messages, [""])
      assert.deepStrictEqual(model("..\r\n.\r\n").messages, [".\r\n"])
    })
  )

  it.effect("keeps the bare CR and LF of a message and the dots after them", () =>
    Effect.gen(function* () {
      const kept = "a\n..b\n.c\r.d\r..e\n.\n\r\r..\r\0\n..\r\n"
      assert.deepStrictEqual((yield* expectModel(`${kept}.\r\n`, inTwo(kept))).messages, [kept])
    })
  )

  it.effect("is parsed as in RFC 5321 for 4,000 random messages at random splits", () =>
    Effect.gen(function* () {
      const below = numbersFrom(1)
      const alphabet = ["\r", "\n", ".", "\r\n", "\r\n.", "\r\n..", ".\r\n", "\0", "x", "some text", "\xff", "\r\n.\r"]
      for (let round = 0; round < 4_000; round++) {
        const pieces = Array.from({ length: below(24) }, () => alphabet[below(alphabet.length)] ?? "")
        const sent = `${pieces.join("")}\r\n.\r\nNOOP\r\n`
        const cuts = Array.from({ length: below(8) }, () => 1 + below(sent.length - 1))
        yield* expectModel(sent, [[], [...new Set(cuts)].toSorted((one, other) => one - other)])
      }
    })
  )

  it.effect("may be followed by commands and messages in the same packet, at any split", () =>
    Effect.gen(function* () {
      const sent = Buffer.from(
        "one\r\n..\r\n.\r\nNOOP\r\nDATA\r\n.two\n.\r\n\r\n.\r\nDATA\r\n.\r\nRSET\r\nQUIT\r\n",
        "latin1"
      )
      const expected = {
        messages: ["one\r\n.\r\n", "two\n.\r\n\r\n", ""],
        commands: ["DATA", "NOOP", "DATA", "DATA", "RSET", "QUIT"]
      }
      for (const cuts of inThree(1, sent.length - 1)) {
        assert.deepStrictEqual(yield* read(cutAt(sent, cuts)), expected, `${cuts}`)
        assert.deepStrictEqual(yield* read(cutAt(sent, cuts), queueMicrotask), expected, `${cuts}, answered later`)
      }
    })
  )

  it("continues only after the message is answered", () => {
    const commands: Array<string> = []
    let ended = 0
    const parser = new DataStream.DataParser(() => turns)
    parser.oncommand = (command, next) => {
      commands.push(command.toString())
      next?.()
    }
    DataStream.receive(parser.startDataMode(), { tenant, take: () => {}, cut: () => {}, end: () => ended++ })
    parser.write("x\r\n.\r\nNOOP\r\n")
    parser.write("RSET\r\n")
    assert.deepStrictEqual([ended, commands], [1, []])
    assert.isTrue(parser.writableLength > 0)
  })

  it("is not copied if no dot is removed", () => {
    const pieces: Array<Uint8Array> = []
    const parser = new DataStream.DataParser(() => turns)
    DataStream.receive(parser.startDataMode(), {
      tenant,
      take: (piece) => pieces.push(piece),
      cut: () => {},
      end: () => {}
    })
    const chunk = Buffer.from(`${"x".repeat(70)}\r\n`.repeat(900))
    parser.write(chunk)
    assert.deepStrictEqual(
      pieces.map(({ buffer, byteLength, byteOffset }) => [buffer === chunk.buffer, byteOffset, byteLength]),
      [[true, chunk.byteOffset, chunk.byteLength]]
    )
  })

  it("counts received bytes without stuffed dots", () => {
    const parser = new DataStream.DataParser(() => turns)
    const stream = parser.startDataMode(9)
    const seen: Array<readonly [number, boolean]> = []
    DataStream.receive(stream, {
      tenant,
      take: () => seen.push([stream.byteLength, stream.sizeExceeded]),
      cut: () => {},
      end: () => seen.push([parser.dataBytes, stream.sizeExceeded])
    })
    for (const chunk of ["..345\r\n", "..9\r", "\n", ".\r", "\n"]) parser.write(chunk)
    assert.deepStrictEqual(seen, [
      [6, false],
      [9, false],
      [10, true],
      [10, true]
    ])

    // The next message starts from zero.
    parser.continue()
    const next = parser.startDataMode(9)
    assert.deepStrictEqual([parser.dataBytes, next.byteLength, next.sizeExceeded], [0, 0, false])
  })

  it("has no end once its session is closed for it", () => {
    let ended = 0
    const parser = new DataStream.DataParser(() => turns)
    DataStream.receive(parser.startDataMode(), {
      tenant,
      take: () => {
        parser.isClosed = true
      },
      cut: () => {},
      end: () => ended++
    })
    parser.write("too large\r\n.\r\n")
    assert.deepStrictEqual([ended, parser.writableLength], [0, 0])
  })

  it.effect("leaves nothing of its message in the session after its end", () =>
    Effect.gen(function* () {
      const bytes = 32 * 1024 * 1024
      const parser = new DataStream.DataParser(() => turns)
      const before = yield* heldBytes
      let ended = 0
      const begin = () => {
        const held = Array.from({ length: bytes / 8 }, (_, index) => index + 0.5)
        const end = () => {
          ended = held.length
        }
        DataStream.receive(parser.startDataMode(), { tenant, take: () => {}, cut: () => {}, end })
      }
      begin()
      parser.write("text\r\n.\r\n")
      assert.isBelow((yield* heldBytes) - before, bytes / 2)
      assert.strictEqual(ended, bytes / 8)
      parser.end()
    })
  )

  it("is truncated once when its client disconnects, unless it is complete", () => {
    for (const [sent, cuts] of [
      ["half a mes", 1],
      ["all of it\r\n.\r\n", 0]
    ] as const) {
      const parser = new DataStream.DataParser(() => turns)
      let cut = 0
      const stream = parser.startDataMode()
      DataStream.receive(stream, { tenant, take: () => {}, cut: () => cut++, end: () => {} })
      parser.write(sent)
      // As the connection does when its socket closes.
      if (!stream.writableEnded && !stream.destroyed) stream.destroy()
      assert.strictEqual(cut, cuts)
    }
  })
})

const known = "someone@known.example"
const received: Array<string> = []
const alone = SmtpAlone.layer({
  intake: {
    receive: ({ message }) =>
      Effect.sync(() => {
        const bytes = Buffer.alloc(message.byteLength)
        message.copyInto(bytes, 0)
        received.push(bytes.toString("latin1"))
        return []
      })
  }
})

const transaction = `MAIL FROM:<sender@sender.example>\r\nRCPT TO:<${known}>\r\nDATA\r\n`

layer(alone, { excludeTestServices: true })("A message over a socket", (it) => {
  it.effect("is parsed as in RFC 5321, in one packet or split before the last byte of an apparent end", () =>
    Effect.gen(function* () {
      const { port } = yield* SmtpAlone
      const dialog = yield* SmtpDialog.open(port)
      yield* dialog.say("EHLO client.example")
      for (const form of lineEnds.flatMap((before) => lineEnds.map((behind) => `${before}.${behind}`))) {
        const inside = `Subject: form\r\n\r\nbody${form}${transaction}`
        // The real end is tested with pipelining.
        if (inside.includes("\r\n.\r\n")) continue
        const sent = `${inside}\r\n.\r\n`
        for (const packets of [[sent], cutAt(Buffer.from(sent, "latin1"), [inside.length - transaction.length - 1])]) {
          received.length = 0
          yield* dialog.write(transaction)
          const [mail, rcpt, data] = yield* Effect.replicateEffect(dialog.reply, 3)
          assert.match(`${mail}\n${rcpt}\n${data}`, /^250 .*\n250 .*\n354 /)
          for (const packet of packets) {
            yield* dialog.write(typeof packet === "string" ? Buffer.from(packet, "latin1") : packet)
            // Sends the rest in another packet.
            if (packets.length > 1) yield* Effect.sleep("1 millis")
          }
          assert.match(yield* dialog.reply, /^250 2\.6\.0 /, JSON.stringify(form))
          assert.deepStrictEqual(received, model(sent).messages, JSON.stringify(form))
          assert.match(yield* dialog.say("VRFY nobody"), /^252 /, JSON.stringify(form))
          yield* dialog.say("RSET")
        }
      }
    })
  )

  it.effect("may be followed by another message and a command in the same packet", () =>
    Effect.gen(function* () {
      received.length = 0
      const { port } = yield* SmtpAlone
      const dialog = yield* SmtpDialog.open(port)
      yield* dialog.say("EHLO client.example")
      yield* dialog.write(`${transaction}one\r\n.\r\n${transaction}.\r\n${transaction}..three\r\n.\r\nNOOP\r\nQUIT\r\n`)
      const replies = yield* Effect.replicateEffect(dialog.reply, 14)
      assert.strictEqual(
        replies.map((reply) => reply.slice(0, 3)).join(" "),
        "250 250 354 250 250 250 354 250 250 250 354 250 250 221"
      )
      assert.deepStrictEqual(received, ["one\r\n", "", ".three\r\n"])
    })
  )
})

const answered = Deferred.makeUnsafe<void>()

const waiting = SmtpAlone.layer({
  intake: {
    receive: () => Effect.as(Deferred.await(answered), [])
  }
})

layer(waiting, { excludeTestServices: true })("A client that pipelines during the storage of a message", (it) => {
  it.effect("is read again once the message is answered", () =>
    Effect.gen(function* () {
      const { port } = yield* SmtpAlone
      const most = 64 * 1_024 * 1_024
      const socket = yield* Effect.acquireRelease(
        Effect.sync(() => connect(port, "127.0.0.1")),
        (socket) => Effect.sync(() => socket.destroy())
      )
      let heard = ""
      socket
        .on("error", () => {})
        .on("data", (chunk) => {
          heard += chunk
        })
      yield* eventually(
        Effect.sync(() => heard),
        (text) => text.startsWith("220 ")
      )
      socket.write(`EHLO client.example\r\n${transaction}`)
      yield* eventually(
        Effect.sync(() => heard),
        (text) => text.includes("\r\n354 ")
      )
      socket.write(`x\r\n.\r\n${"NOOP\r\n".repeat(3)}QUIT\r\n`)
      socket.write(Buffer.alloc(most, "x"))
      yield* Effect.sleep("300 millis")
      // Only the buffers of the two sockets are in transit.
      assert.isAbove(socket.writableLength, most / 2)
      assert.notMatch(heard, /\r\n250 2\.6\.0 /)
      yield* Deferred.succeed(answered, undefined)
      yield* eventually(
        Effect.sync(() => heard),
        (text) => text.includes("\r\n221 ")
      )
      assert.match(heard, /\r\n250 2\.6\.0 [^\n]*\n(250 2\.0\.0 OK\r\n){3}221 /)
    })
  )
})

layer(SmtpAlone.layer({ settings: { MAX_MESSAGE_BYTES: "70000" } }), { excludeTestServices: true })(
  "A message of dot lines only",
  (it) => {
    it.effect("has the size without the stuffed dots", () =>
      Effect.gen(function* () {
        const { port } = yield* SmtpAlone
        const line = ".\r\n"
        const most = line.repeat(70_000 / 3)
        assert.match(yield* Mailbox.deliver(port, known, most), /^250 /)
        assert.match(yield* Mailbox.deliver(port, known, `${most}${line}`), /^552 5\.3\.4 /)
      })
    )
  }
)
