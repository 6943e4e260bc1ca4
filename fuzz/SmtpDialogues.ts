import { Clock, Effect } from "effect"
import type { Inbox, InletProcess } from "../test/InletProcess.ts"
import * as SmtpDialog from "../test/SmtpDialog.ts"
import type { Dice } from "./Dice.ts"
import type { Found } from "./Found.ts"
import * as Mutation from "./Mutation.ts"

const dialogue = (dice: Dice, address: string, messages: ReadonlyArray<Uint8Array>): ReadonlyArray<Uint8Array> => {
  const path = () =>
    dice.oneOf([
      `<${address}>`,
      "<>",
      "<a@a.example>",
      `<"a b"@a.example>`,
      `<${"a".repeat(300)}@a.example>`,
      "a",
      "<@"
    ])
  const line = (): string =>
    dice.oneOf([
      () => "EHLO a.example",
      () => "HELO [127.0.0.1]",
      () =>
        `MAIL FROM:${path()}${dice.oneOf(["", " SIZE=10", " SIZE=99999999999", " BODY=8BITMIME SMTPUTF8", " X=Y"])}`,
      () => `RCPT TO:${path()}`,
      () => `RCPT TO:<${address}>`,
      () => "DATA",
      () => dice.oneOf(["RSET", "NOOP x", "VRFY a", "HELP", "EXPN", "BDAT 5 LAST", "AUTH PLAIN", "XCLIENT ADDR=1", ""]),
      () => "GET / HTTP/1.1"
    ])()
  const usual = ["EHLO a.example", "MAIL FROM:<a@a.example>", `RCPT TO:<${address}>`, "DATA"]
  const lines = dice.chance(60) ? usual : Array.from({ length: dice.roll(12) + 1 }, line)
  const commands = lines.map((text) => {
    const bytes = Buffer.from(`${text}\r\n`)
    return dice.chance(5) ? Mutation.mutate(dice, bytes, [bytes]) : bytes
  })
  const message = Mutation.mutate(dice, dice.oneOf(messages), messages)
  const end = Buffer.from(dice.oneOf(["\r\n.\r\n", "\r\n.\r\n", "\r\n.\r\n", "\n.\n", "\r\n.\r", ""]))
  return [...commands, message, end, Buffer.from("QUIT\r\n")]
}

/**
 * Sends valid and invalid SMTP until the deadline. Findings are `451`, malformed replies and a client that is not
 * served.
 */
export const run = Effect.fn("SmtpDialogues.run")(function* (
  dice: Dice,
  service: { readonly inlet: InletProcess; readonly inbox: Inbox },
  messages: ReadonlyArray<Uint8Array>,
  found: Found,
  until: number
) {
  let count = 0
  while ((yield* Clock.currentTimeMillis) < until) {
    const said = dialogue(dice, service.inbox.address, messages)
    const isPipelined = dice.chance(50)
    const replies = yield* Effect.scoped(
      Effect.gen(function* () {
        const dialog = yield* SmtpDialog.open(service.inlet.smtpPort)
        const heard = [dialog.greeting]
        for (const bytes of said) {
          yield* dialog.write(bytes)
          if (!isPipelined)
            heard.push(
              yield* Effect.timeoutOrElse(dialog.reply, {
                duration: "100 millis",
                orElse: () => Effect.succeed("220 still waits")
              })
            )
        }
        return heard
      })
    )
    count++
    const odd = replies.find((reply) => reply !== "" && (!/^\d{3}[ -]/.test(reply) || reply.startsWith("451")))
    if (odd !== undefined) yield* found.add("smtp", `the reply "${odd}"`, Buffer.concat(said))
    if (count % 20 > 0) continue
    const greeting = yield* Effect.scoped(Effect.map(SmtpDialog.open(service.inlet.smtpPort), (next) => next.greeting))
    if (!greeting.startsWith("220 "))
      yield* found.add("smtp", `the next client heard "${greeting}"`, Buffer.concat(said))
  }
  return count
})
