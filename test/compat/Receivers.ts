import { fileURLToPath } from "node:url"
import { Effect, FileSystem, Schema } from "effect"
import { eventually } from "../Eventually.ts"
import * as Needs from "../Needs.ts"
import * as Ports from "../Ports.ts"
import * as Program from "../Program.ts"

export const password = "the-password-of-a-receiver"
export const signingKey = "the-signing-key-of-mailgun"
export const mandrillKey = "the-webhook-key-of-mandrill"

/** A mail as a receiver understood it. */
const Record = Schema.Struct({
  from: Schema.NullOr(Schema.Array(Schema.String)),
  to: Schema.NullOr(Schema.Array(Schema.String)),
  cc: Schema.NullOr(Schema.Array(Schema.String)),
  subject: Schema.NullOr(Schema.String),
  message_id: Schema.NullOr(Schema.String),
  text: Schema.NullOr(Schema.String),
  html: Schema.NullOr(Schema.String),
  attachments: Schema.Array(
    Schema.Struct({
      filename: Schema.NullOr(Schema.String),
      content_type: Schema.String,
      content_id: Schema.NullOr(Schema.String),
      sha256: Schema.String
    })
  ),
  recipient: Schema.String,
  sender: Schema.NullOr(Schema.String),
  recipients: Schema.Array(Schema.String),
  spam_score: Schema.NullOr(Schema.Finite)
})
export type Record = typeof Record.Type

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Record))

const folder = fileURLToPath(new URL("receivers", import.meta.url))

/** A receiver in a process of its own, on a free port. */
const start = Effect.fnUntraced(function* (run: (port: number) => readonly [command: string, ...args: Array<string>]) {
  const fs = yield* FileSystem.FileSystem
  const port = yield* Ports.free
  const records = `${yield* fs.makeTempDirectoryScoped({ prefix: "inlet-compat-" })}/records.jsonl`
  yield* fs.writeFileString(records, "")
  const [command, ...args] = run(port)
  const program = yield* Program.start(command, args, {
    cwd: folder,
    env: {
      RECORDS: records,
      RAILS_ENV: "production",
      RAILS_INBOUND_EMAIL_PASSWORD: password,
      MAILGUN_INGRESS_SIGNING_KEY: signingKey,
      MANDRILL_INGRESS_API_KEY: mandrillKey,
      WEBHOOK_SECRET: `anymail:${password}`,
      MAILGUN_SIGNING_KEY: signingKey,
      MANDRILL_WEBHOOK_KEY: mandrillKey
    }
  })
  const url = `http://127.0.0.1:${port}`
  yield* eventually(Ports.isAnswered(port), (up) => up).pipe(
    Effect.catchDefect((defect) =>
      Effect.flatMap(program.printed, (printed) =>
        Effect.die(new Error(`${command} did not start: ${defect}\n${printed}`))
      )
    )
  )
  /** The mails so far. */
  const all = Effect.map(fs.readFileString(records), (text) =>
    text
      .split("\n")
      .slice(0, -1)
      .map((line) => decode(line))
  )
  return { url, all, printed: program.printed }
})

/** Rails with Action Mailbox, from Debian's packages. */
export const rails = Effect.andThen(
  Needs.demand(Needs.actionMailbox),
  start((port) => [
    "puma",
    "--quiet",
    "-e",
    "production",
    "-t",
    "1:1",
    "-b",
    `tcp://127.0.0.1:${port}`,
    "action_mailbox.ru"
  ])
)

/** Django with Anymail, from Debian's packages. */
export const django = Effect.andThen(
  Needs.demand(Needs.anymail),
  start((port) => ["/usr/bin/python3", "anymail_app.py", `${port}`])
)
