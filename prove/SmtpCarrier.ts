import { Effect } from "effect"
import * as SmtpDialog from "../test/SmtpDialog.ts"
import type { Carrier, Outcome } from "./Sender.ts"

/** Messages over one connection. */
const messagesPerConnection = 20

/** A mail server that sends to the first reachable one of these ports. */
export const make = ({ ports, to }: { readonly ports: ReadonlyArray<number>; readonly to: string }): Carrier => {
  /** The reply to a message, and whether it was to its last dot. */
  const transmit = Effect.fnUntraced(function* (dialog: SmtpDialog.SmtpDialog, message: string) {
    for (const line of ["MAIL FROM:<sender@sender.example>", `RCPT TO:<${to}>`, "DATA"]) {
      const reply = yield* dialog.say(line)
      if (!/^[23]5/.test(reply)) return { reply, isEnd: false }
    }
    return { reply: yield* dialog.say(`${message}\r\n.`), isEnd: true }
  })

  const outcomeOf = (reply: string, isEnd: boolean): Outcome => {
    if (reply.startsWith("4")) return "postponed"
    if (reply.startsWith("5")) return { bounced: reply }
    if (!isEnd) return "broken"
    return reply.startsWith("250") ? "accepted" : "unanswered"
  }

  return Effect.fnUntraced(function* ({ next, pause, tell }, turn) {
    const dialog = yield* SmtpDialog.open(ports[turn % ports.length] ?? 0)
    if (!dialog.greeting.startsWith("220") || !(yield* dialog.say("EHLO sender.example")).startsWith("250"))
      return false
    for (let count = 0; count < messagesPerConnection; count++) {
      const mail = next()
      if (mail === undefined) return true
      const { isEnd, reply } = yield* transmit(dialog, mail.message)
      const outcome = outcomeOf(reply, isEnd)
      yield* tell(mail, outcome)
      // A 5xx to the message leaves the session usable, one to a command does not.
      if (outcome !== "accepted" && !(isEnd && typeof outcome === "object")) return false
      yield* pause
    }
    yield* dialog.say("QUIT")
    return true
  }, Effect.scoped)
}
