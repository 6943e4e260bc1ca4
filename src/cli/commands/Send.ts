import { Console, Effect, FileSystem, Option, Path } from "effect"
import { Command, Flag } from "effect/cli"
import { createTransport } from "nodemailer"
import * as Settings from "../../Settings.ts"
import { CommandFailed } from "../terminal/CommandFailed.ts"

export const command = Command.make(
  "send",
  {
    to: Flag.String("to").pipe(
      Flag.withDescription("Recipient, such as the address of an instant inbox"),
      Flag.filter(
        (to) => to.includes("@"),
        () => "an address such as inbox@example.com"
      )
    ),
    from: Flag.String("from").pipe(
      Flag.withDescription("Sender, in envelope and From field"),
      Flag.filter(
        (from) => from.includes("@"),
        () => "an address such as ada@example.com"
      ),
      Flag.withDefault("tour@sender.example")
    ),
    subject: Flag.String("subject").pipe(
      Flag.withDescription("Subject of the mail"),
      Flag.withDefault("Hello from inlet send")
    ),
    text: Flag.String("text").pipe(Flag.withDescription("Text of the mail"), Flag.withDefault("It works.")),
    attach: Flag.File("attach", { mustExist: true }).pipe(Flag.withDescription("A file to attach"), Flag.optional),
    host: Flag.String("host").pipe(Flag.withDescription("Mail server, default SMTP_HOST"), Flag.optional),
    port: Flag.Int("port").pipe(Flag.withDescription("Port of the mail server, default SMTP_PORT"), Flag.optional)
  },
  Effect.fn(function* ({ attach, from, host, port, subject, text, to }) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const smtp = yield* Settings.smtp
    const server = { host: Option.getOrElse(host, () => smtp.host), port: Option.getOrElse(port, () => smtp.port) }
    const failed = (why: string) =>
      new CommandFailed({ message: `${server.host}:${server.port} refused the mail: ${why}` })
    const unreached = (why: string) =>
      new CommandFailed({
        message: `No mail server answers at ${server.host}:${server.port} (${why}). Start Inlet, or name another one with --host and --port`
      })

    const attachments = Option.isSome(attach)
      ? [{ filename: path.basename(attach.value), content: Buffer.from(yield* fs.readFile(attach.value)) }]
      : []
    const transport = yield* Effect.acquireRelease(
      // A local server has a self-signed certificate.
      Effect.sync(() => createTransport({ ...server, tls: { rejectUnauthorized: false } })),
      (transport) => Effect.sync(() => transport.close())
    )
    const sent = yield* Effect.tryPromise({
      try: () => transport.sendMail({ from, to, subject, text, attachments }),
      catch: (cause) => (isUnreached(cause) ? unreached : failed)(reasonOf(cause))
    })
    yield* Console.log(`${sent.response}  ${sent.messageId}`)
    // For some of several recipients.
    if (sent.rejected.length > 0) return yield* failed((sent.rejectedErrors ?? []).map(reasonOf).join("; "))
  }, Effect.scoped)
).pipe(Command.withDescription("Send a mail to the local SMTP server"))

/** No connection, or one that the server left silent or closed. Every reply of a mail server is in `response`. */
const isUnreached = (cause: unknown) => Object(cause).command === "CONN" && Object(cause).response === undefined

/** The server's answer, or the reason that there is none. */
const reasonOf = (cause: unknown): string => {
  const { message, response } = Object(cause) as { readonly message?: string; readonly response?: string }
  return response ?? message ?? String(cause)
}
