import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { eventually } from "../Eventually.ts"
import * as InletProcess from "../InletProcess.ts"
import * as Mailbox from "../Mailbox.ts"
import * as SmtpDialog from "../SmtpDialog.ts"

/** Text that would end a line, break a JSON string or control a terminal. */
const evil = '\u001b[31mEVIL\u001b]0;t\u0007"}\\\u2028\u0085\u009b31m{"level":"ERROR"}'

/** A line broken by injected text would not be an object with these fields. */
const entryOf = (line: string) => {
  const entry: { readonly level: string; readonly message: unknown; readonly timestamp: string } = JSON.parse(line)
  assert.match(entry.timestamp, /^\d{4}-/)
  return entry
}

describe("The log", () => {
  it.live("has one JSON line for each entry, whatever strangers send", () =>
    Effect.gen(function* () {
      const inlet = yield* InletProcess.start({
        ...(yield* InletProcess.installation),
        LOG_LEVEL: "debug",
        LOG_FORMAT: "json"
      })
      const { address } = yield* inlet.inbox("http://127.0.0.1:9/")
      yield* Effect.scoped(
        Effect.gen(function* () {
          const dialog = yield* SmtpDialog.open(inlet.smtpPort)
          yield* dialog.say(`EHLO ${evil}`)
          yield* dialog.say(`HELO a\rINFO fake`)
          yield* dialog.say(`${evil} ${evil}`)
          yield* dialog.say("EHLO client.example")
          yield* dialog.say(`MAIL FROM:<${evil}@sender.example>`)
          yield* dialog.say(`MAIL FROM:<EVIL@sender.example> ${evil}=${evil}`)
          yield* dialog.say("MAIL FROM:<EVIL@sender.example>")
          for (const to of [
            `${evil}@unknown.example`,
            `x\rEVIL@unknown.example`,
            `x@${evil}`,
            `"${evil}"@${address}`
          ]) {
            yield* dialog.say(`RCPT TO:<${to}>`)
          }
          yield* dialog.say("RCPT TO:<EVIL@unknown.example>")
        })
      )
      const message = `From: ${evil} <a@b.example>\r\nSubject: ${evil}\r\nMessage-ID: <${evil}>\r\n\r\n${evil}\r\n`
      assert.match(yield* Mailbox.deliver(inlet.smtpPort, address, message), /^250 /)
      yield* inlet.call("GET", "/%1b[31mEVIL%0d%0a%22%7d/%E2%80%A8", {
        headers: { "user-agent": 'EVIL"}\\', "x-request-id": 'EVIL"}' }
      })
      const output = yield* eventually(
        inlet.output,
        (text) =>
          text.includes("RCPT was answered 550") && text.includes("A delivery attempt failed") && /%1b/i.test(text)
      )

      assert.notMatch(output, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
      const lines = output.trimEnd().split("\n")
      const entries = lines.map(entryOf)
      assert.deepStrictEqual([...new Set(entries.map(({ level }) => level))].toSorted(), ["DEBUG", "INFO"])
      const refused = lines.filter((line) => /was answered [45]\d\d/.test(line))
      assert.isTrue(refused.some((line) => line.includes('"recipient":"EVIL@unknown.example"')))
      assert.isTrue(refused.some((line) => line.includes('"recipient_domain":"unknown.example"')))
      // Beside refused senders and recipients, only the request path is logged as received.
      const written = lines.filter((line) => line.includes("EVIL") && !refused.includes(line))
      assert.lengthOf(written, 1)
      assert.include(written[0], '"path":"/%1b[31mEVIL%0d%0a%22%7d/%E2%80%A8"')

      const metrics = yield* inlet.call("GET", "/metrics")
      assert.notInclude(metrics.text, "EVIL")
      assert.notInclude(metrics.text, "example")
    }).pipe(Effect.scoped)
  )

  it.live("has sender, recipient, workspace and reason of a refusal, and no warning for a full quota", () =>
    Effect.gen(function* () {
      const inlet = yield* InletProcess.start({
        ...(yield* InletProcess.installation),
        LOG_LEVEL: "info",
        LOG_FORMAT: "json",
        MAX_EMAILS_PER_DAY: "1",
        MAX_MESSAGE_BYTES: "65536"
      })
      const { address } = yield* inlet.inbox("http://127.0.0.1:9/")
      const message = (id: string) => `Message-ID: <${id}@sender.example>\r\nSubject: ${id}\r\n\r\ntext\r\n`
      yield* Effect.scoped(
        Effect.gen(function* () {
          const dialogs = yield* Effect.forEach([1, 2, 3], () => Mailbox.begin(inlet.smtpPort, address))
          const [first, second, third] = dialogs
          if (first === undefined || second === undefined || third === undefined) return assert.fail()
          assert.match(yield* Mailbox.data(third, message("large") + "x".repeat(70_000)), /^552 /)
          assert.match(yield* Mailbox.data(first, message("first")), /^250 /)
          assert.match(yield* Mailbox.data(second, message("second")), /^452 /)
          yield* Mailbox.begin(inlet.smtpPort, address)
          const { mail } = yield* Mailbox.begin(inlet.smtpPort, address, { parameters: " SIZE=70000" })
          assert.match(mail, /^552 /)
        })
      )
      const output = yield* eventually(
        inlet.output,
        (text) => text.includes("MAIL was answered 552") && text.endsWith("\n")
      )
      const entries = output
        .trimEnd()
        .split("\n")
        .map((line): { readonly level: string; readonly message: string; readonly annotations: object } =>
          JSON.parse(line)
        )
      assert.deepStrictEqual(
        entries.filter(({ level }) => level === "WARN" || level === "ERROR"),
        []
      )
      const about = (message: string) => entries.find((entry) => entry.message === message)?.annotations ?? {}
      const envelope = { sender: "sender@sender.example", recipient: address, remote_address: "127.0.0.1" }
      assert.deepInclude(about("DATA was answered 452 4.2.2"), { ...envelope, reason: "quota" })
      assert.property(about("DATA was answered 452 4.2.2"), "workspace_id")
      assert.deepInclude(about("RCPT was answered 452 4.2.2"), { ...envelope, reason: "quota" })
      assert.property(about("RCPT was answered 452 4.2.2"), "workspace_id")
      assert.deepInclude(about("DATA was answered 552 5.3.4"), { ...envelope, reason: "too_large" })
      assert.property(about("DATA was answered 552 5.3.4"), "workspace_id")
      assert.deepInclude(about("MAIL was answered 552 5.3.4"), { sender: envelope.sender, reason: "too_large" })

      const { text } = yield* inlet.call("GET", "/metrics")
      for (const labels of [
        'command="DATA",code="552",reason="too_large"',
        'command="MAIL",code="552",reason="too_large"',
        'command="DATA",code="452",reason="quota"',
        'command="RCPT",code="452",reason="quota"'
      ]) {
        assert.include(text, `inlet_smtp_replies_total{${labels}} 1`)
      }
    }).pipe(Effect.scoped)
  )

  it.live("and the metrics have the same labels after a hundred unusual requests as after one", () =>
    Effect.gen(function* () {
      const inlet = yield* InletProcess.start(yield* InletProcess.installation)
      const series = Effect.map(inlet.call("GET", "/metrics"), ({ text }) =>
        text.split("\n").flatMap((line) => (/^inlet_/.test(line) ? [line.replace(/ .*/, "")] : []))
      )
      const strange = (number: number) =>
        Effect.gen(function* () {
          yield* inlet.call("GET", `/${number}/strange-${number}?q=${number}`, {
            headers: { host: `h${number}.example` }
          })
          yield* Effect.scoped(Mailbox.begin(inlet.smtpPort, `x@strange-${number}.example`))
        })
      yield* strange(0)
      yield* series
      const before = yield* series
      yield* Effect.forEach(
        Array.from({ length: 100 }, (_, number) => number + 1),
        strange,
        { concurrency: 8, discard: true }
      )
      const after = yield* series
      // Some metrics appear only after a while.
      assert.isBelow(after.length, before.length + 10)
      assert.notMatch(after.join(), /strange|example/)
    }).pipe(Effect.scoped)
  )
})
