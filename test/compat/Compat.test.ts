import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Public from "../../src/testing/TestInlet.ts"
import { eventually } from "../Eventually.ts"
import * as Needs from "../Needs.ts"
import * as SmtpDialog from "../SmtpDialog.ts"
import { database } from "../TestInlet.ts"
import { type CompatMail, mails, sha256, type Truth } from "./CompatMails.ts"
import * as Receivers from "./Receivers.ts"
import * as SparkpostFormat from "./SparkpostFormat.ts"

interface Endpoint {
  readonly name: string
  /** What an operator sets. */
  readonly format: string
  readonly path: string
  readonly user?: string
  readonly signingKey?: string
  /** The receiver tells the envelope sender in this format. */
  readonly tellsSender: boolean
}

const { mandrillKey, password, signingKey } = Receivers

const rails: ReadonlyArray<Endpoint> = [
  { name: "relay", format: "raw", path: "relay/inbound_emails", user: "actionmailbox" },
  { name: "postmark", format: "postmark", path: "postmark/inbound_emails", user: "actionmailbox" },
  { name: "mailgun", format: "mailgun", path: "mailgun/inbound_emails/mime", signingKey },
  { name: "sendgrid", format: "sendgrid-raw", path: "sendgrid/inbound_emails", user: "actionmailbox" },
  { name: "mandrill", format: "mandrill", path: "mandrill/inbound_emails", signingKey: mandrillKey }
].map((endpoint) => ({
  ...endpoint,
  path: `/rails/action_mailbox/${endpoint.path}`,
  tellsSender: true
}))

const django: ReadonlyArray<Endpoint> = [
  {
    name: "postmark",
    format: "postmark",
    path: "postmark/inbound/",
    user: "anymail",
    tellsSender: false
  },
  { name: "mailgun", format: "mailgun", path: "mailgun/inbound/", signingKey, tellsSender: true },
  {
    name: "mailgun's mime",
    format: "mailgun",
    path: "mailgun/inbound_mime",
    signingKey,
    tellsSender: true
  },
  {
    name: "sendgrid",
    format: "sendgrid",
    path: "sendgrid/inbound/",
    user: "anymail",
    tellsSender: true
  },
  {
    name: "sendgrid's raw",
    format: "sendgrid-raw",
    path: "sendgrid/inbound/",
    user: "anymail",
    tellsSender: true
  },
  {
    name: "mandrill",
    format: "mandrill",
    path: "mandrill/",
    signingKey: mandrillKey,
    tellsSender: false
  },
  {
    name: "sparkpost, an own format",
    format: "sparkpost",
    path: "sparkpost/inbound/",
    user: "anymail",
    tellsSender: true
  }
].map((endpoint) => ({ ...endpoint, path: `/anymail/${endpoint.path}` }))

const service = Public.TestInlet.layer({
  database,
  formats: { sparkpost: SparkpostFormat.layer },
  settings: {
    MAX_EMAILS_PER_DAY: "0",
    SENDER_CHECKS: "false",
    WEBHOOK_CHANGES_PER_MINUTE: "0",
    WEBHOOK_RETRY_DELAYS: "1h"
  }
})

/** Sends the bytes of a mail as they are. */
const send = Effect.fnUntraced(function* (
  port: number,
  { bytes, truth }: CompatMail,
  recipients: ReadonlyArray<string>
) {
  const smtp = yield* SmtpDialog.open(port)
  yield* smtp.say("EHLO sender.example")
  yield* smtp.say(`MAIL FROM:<${truth.sender}> BODY=8BITMIME`)
  for (const recipient of recipients) yield* smtp.say(`RCPT TO:<${recipient}>`)
  yield* smtp.say("DATA")
  yield* smtp.write(Buffer.from(bytes.toString("latin1").replace(/^\./gm, ".."), "latin1"))
  const end = bytes.subarray(-2).toString("latin1") === "\r\n" ? "." : "\r\n."
  assert.match(yield* smtp.say(end), /^250 /, truth.name)
  yield* smtp.hangUp()
}, Effect.scoped)

const plain = (text: string | null) => (text ?? "").replaceAll("\r\n", "\n").replace(/\n+$/, "")

/** Compares what a receiver understood with what is true of the mail. */
const isWhole = (record: Receivers.Record, truth: Truth, { tellsSender }: Endpoint) => {
  assert.deepStrictEqual(record.from, [/<(.*)>/.exec(truth.fromField)?.[1] ?? truth.fromField], truth.name)
  assert.deepStrictEqual(record.to, truth.to, truth.name)
  assert.deepStrictEqual(record.cc ?? [], truth.cc, truth.name)
  assert.strictEqual(record.subject ?? "", truth.subject ?? "", truth.name)
  if (truth.messageId !== null) assert.strictEqual(record.message_id, truth.messageId, truth.name)
  if (truth.text !== undefined) assert.strictEqual(plain(record.text), plain(truth.text), truth.name)
  assert.strictEqual(plain(record.html), plain(truth.html), truth.name)
  const wanted = truth.files.map(({ content, contentId, filename }) => [sha256(content), filename, contentId])
  const found = record.attachments.map(({ content_id, filename, sha256 }) => [sha256, filename, content_id])
  assert.sameDeepMembers(found, wanted, truth.name)
  if (tellsSender) assert.strictEqual(record.sender ?? "", truth.sender, truth.name)
  // Nothing that the sender wrote counts as the provider's word.
  assert.isNull(record.spam_score, truth.name)
  assert.notInclude(JSON.stringify(record), "victim@other.example", truth.name)
}

const takesAll = Effect.fnUntraced(function* (receiver: Effect.Success<typeof Receivers.rails>, endpoint: Endpoint) {
  const inlet = yield* Public.TestInlet
  const { domain, domainId, key } = yield* inlet.inbox()
  const set = (secret: string, by: string | undefined) => {
    const url = new URL(endpoint.path, receiver.url)
    if (endpoint.user !== undefined) Object.assign(url, { username: endpoint.user, password: secret })
    return inlet.call("PATCH", `/api/domains/${domainId}/delivery`, {
      key,
      body: { webhookUrl: url.href, format: endpoint.format, ...(by === undefined ? {} : { signingKey: by }) }
    })
  }
  const { status, text } = yield* set(password, endpoint.signingKey)
  assert.strictEqual(status, 200, text)
  for (const secret of [password, signingKey, mandrillKey]) assert.notInclude(text, secret)

  const sent = mails.map((mail) => ({
    mail,
    recipients: Array.from({ length: mail.truth.recipients }, (_, number) => `${mail.truth.name}-${number}@${domain}`)
  }))
  yield* Effect.forEach(sent, ({ mail, recipients }) => send(inlet.smtpPort, mail, recipients), { concurrency: 4 })
  const wanted = new Map(sent.flatMap(({ mail, recipients }) => recipients.map((one) => [one, mail.truth] as const)))
  const mine = Effect.map(receiver.all, (all) => all.filter(({ recipient }) => wanted.has(recipient)))
  const records = yield* eventually(mine, ({ length }) => length >= wanted.size)
  assert.sameMembers(
    records.map(({ recipient }) => recipient),
    [...wanted.keys()]
  )
  for (const record of records) {
    const truth = wanted.get(record.recipient)
    if (truth !== undefined) isWhole(record, truth, endpoint)
  }

  // A wrong secret is refused, and costs no mail: the delivery waits for its next attempt.
  yield* set("a-wrong-password-here", endpoint.signingKey === undefined ? undefined : "a-wrong-signing-key")
  const refused = `refused@${domain}`
  const [first] = mails
  if (first !== undefined) yield* send(inlet.smtpPort, first, [refused])
  const listed = Effect.map(
    inlet.call("GET", `/api/domains/${domainId}/events?recipient=${refused}`, { key }),
    ({ json }) => json.events
  )
  const [event] = yield* eventually(listed, ([one]) => one?.delivery.attempts === 1 && one.delivery.lastError !== null)
  assert.strictEqual(event.delivery.status, "pending")
  assert.match(event.delivery.lastError, /^the webhook answered 40[01]$/)
  assert.notInclude(JSON.stringify(yield* receiver.all), refused)
})

describe("Rails with Action Mailbox", Needs.options(Needs.actionMailbox), () => {
  it.live("takes every mail whole, through each of its endpoints", () =>
    Effect.gen(function* () {
      const receiver = yield* Receivers.rails
      for (const endpoint of rails) yield* takesAll(receiver, endpoint)
    }).pipe(Effect.provide([service, NodeServices.layer]), Effect.scoped)
  )
})

describe("Django with Anymail", Needs.options(Needs.anymail), () => {
  it.live("takes every mail whole, through each of its endpoints", () =>
    Effect.gen(function* () {
      const receiver = yield* Receivers.django
      for (const endpoint of django) yield* takesAll(receiver, endpoint)
    }).pipe(Effect.provide([service, NodeServices.layer]), Effect.scoped)
  )
})
