import { fileURLToPath } from "node:url"
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import Parse from "@sendgrid/inbound-mail-parser"
import { Effect, FileSystem } from "effect"
import PostalMime from "postal-mime"
import * as Mailgun from "../../src/delivery/formats/Mailgun.ts"
import * as Postmark from "../../src/delivery/formats/Postmark.ts"
import * as Raw from "../../src/delivery/formats/Raw.ts"
import * as Sendgrid from "../../src/delivery/formats/Sendgrid.ts"
import { of, request } from "../delivery/formats/DeliveredMail.ts"
import * as Form from "../delivery/formats/Form.ts"
import * as Needs from "../Needs.ts"
import * as Program from "../Program.ts"
import { type CompatMail, mails, sha256, type Truth } from "./CompatMails.ts"

// Libraries that apps use to read the requests of providers, each with every mail of the set.

const recipient = "team+42@shop.example"

const delivered = ({ bytes, truth }: CompatMail) => of(bytes, { recipient, envelope: { from: truth.sender } })

const plain = (text: string | null | undefined) => (text ?? "").replaceAll("\r\n", "\n").replace(/\n+$/, "")

const addressOf = ({ fromField }: Truth) => /<(.*)>/.exec(fromField)?.[1] ?? fromField

const hashes = ({ files }: Truth) => files.map(({ content, filename }) => [filename, sha256(content)])

describe("postal-mime", () => {
  /** A raw message as the parser of Cloudflare's Email Workers reads it. */
  const isWhole = Effect.fnUntraced(function* (message: Uint8Array, truth: Truth) {
    const mail = yield* Effect.promise(() => PostalMime.parse(Buffer.from(message)))
    assert.strictEqual(mail.from?.address, addressOf(truth), truth.name)
    assert.deepStrictEqual(
      mail.to?.map(({ address }) => address),
      [...truth.to],
      truth.name
    )
    assert.strictEqual(mail.subject ?? "", truth.subject ?? "", truth.name)
    if (truth.messageId !== null) assert.strictEqual(mail.messageId, `<${truth.messageId}>`, truth.name)
    assert.strictEqual(mail.headers.filter(({ key }) => key === "x-original-to").length, 1, truth.name)
    if (truth.report !== undefined) return
    if (truth.text !== undefined) assert.strictEqual(plain(mail.text), plain(truth.text), truth.name)
    assert.deepStrictEqual(
      mail.attachments.map(({ content, filename }) => [filename, sha256(new Uint8Array(content as ArrayBuffer))]),
      hashes(truth),
      truth.name
    )
  })

  it.effect("reads every mail in the raw format whole", () =>
    Effect.forEach(mails, (mail) => isWhole(request(Raw.format, delivered(mail)).body, mail.truth), { discard: true })
  )

  it.effect("reads every mail in Mailgun's and SendGrid's raw variants whole", () =>
    Effect.gen(function* () {
      for (const mail of mails) {
        const mailgun = yield* Form.read(request(Mailgun.format, delivered(mail), { url: "https://app.example/mime" }))
        yield* isWhole(Buffer.from(mailgun.value("body-mime") ?? ""), mail.truth)
        const sendgrid = yield* Form.read(request(Sendgrid.rawFormat, delivered(mail)))
        yield* isWhole(Buffer.from(sendgrid.value("email") ?? ""), mail.truth)
      }
    })
  )
})

describe("SendGrid's inbound parser", () => {
  it.effect("reads every mail in the sendgrid format whole", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-sendgrid-" })
      const keys = ["to", "from", "cc", "subject", "text", "html", "envelope", "attachments", "headers"]
      for (const mail of mails) {
        const { truth } = mail
        const form = yield* Form.read(request(Sendgrid.format, delivered(mail)))
        const files = yield* Effect.forEach(form.files, ({ content, contentType, filename }, index) => {
          const path = `${folder}/${truth.name}-${index}`
          return Effect.as(fs.writeFile(path, content), { path, originalname: filename, mimetype: contentType })
        })
        const parser = new Parse({ keys }, { body: Object.fromEntries(form.fields), files })
        const values = parser.keyValues()
        assert.include(values.from, addressOf(truth), truth.name)
        assert.strictEqual(values.to, truth.to.join(", "), truth.name)
        assert.strictEqual(values.cc ?? "", truth.cc.join(", "), truth.name)
        assert.strictEqual(values.subject ?? "", truth.subject ?? "", truth.name)
        assert.deepStrictEqual(JSON.parse(values.envelope), { to: [recipient], from: truth.sender })
        assert.isFalse(parser.hasRawEmail())
        if (truth.text !== undefined) assert.strictEqual(plain(values.text), plain(truth.text), truth.name)
        assert.strictEqual(plain(values.html), plain(truth.html), truth.name)
        const found: Array<ReadonlyArray<string>> = []
        parser.attachments((attachments) => {
          for (const { content, filename } of attachments)
            found.push([filename, sha256(Buffer.from(content, "base64"))])
        })
        assert.deepStrictEqual(found, hashes(truth), truth.name)
      }
    }).pipe(Effect.provide(NodeServices.layer), Effect.scoped)
  )
})

describe("Postmark's library for Ruby", Needs.options(Needs.rubyPostmark), () => {
  const script = fileURLToPath(new URL("receivers/postmark_inbound.rb", import.meta.url))

  it.live("reads every mail in the postmark format whole", () =>
    Effect.gen(function* () {
      yield* Needs.demand(Needs.rubyPostmark)
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-postmark-" })
      for (const mail of mails) {
        const { truth } = mail
        const path = `${folder}/${truth.name}.json`
        yield* fs.writeFile(path, request(Postmark.format, delivered(mail)).body)
        const { code, stderr, stdout } = yield* Program.run("sh", ["-c", 'ruby "$0" < "$1"', script, path])
        assert.strictEqual(code, 0, stderr)
        const found = JSON.parse(stdout)
        assert.deepInclude(
          found,
          {
            from: addressOf(truth),
            to: [...truth.to],
            cc: [...truth.cc],
            subject: truth.subject ?? "",
            recipient,
            hash: "42"
          },
          truth.name
        )
        if (truth.messageId !== null) assert.strictEqual(found.message_id, `<${truth.messageId}>`, truth.name)
        if (truth.text !== undefined) assert.strictEqual(plain(found.text), plain(truth.text), truth.name)
        assert.strictEqual(plain(found.html), plain(truth.html), truth.name)
        assert.deepStrictEqual(
          found.files.map(([name, , hash]: ReadonlyArray<string>) => [name, hash]),
          hashes(truth),
          truth.name
        )
      }
    }).pipe(Effect.provide(NodeServices.layer), Effect.scoped)
  )
})
