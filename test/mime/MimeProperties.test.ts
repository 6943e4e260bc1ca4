import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import * as Mime from "../../src/mime/Mime.ts"
import { InboundEvent } from "../../src/model/InboundEvent.ts"
import { message } from "./Message.ts"

/** Fragments of real and hostile messages. */
const soup = Arbitrary.array(
  Arbitrary.schema(
    Schema.Literals([
      "From: ",
      "Subject: ",
      "Message-ID: <1@a.example>",
      "Content-Type: ",
      "multipart/mixed; boundary=b",
      'multipart/alternative; boundary="b"',
      "text/html; charset=utf-16",
      "text/plain; charset=",
      "message/rfc822",
      "Content-Transfer-Encoding: base64",
      "Content-Transfer-Encoding: quoted-printable",
      "Content-Disposition: attachment; filename=",
      "filename*0*=utf-8''%",
      "=?utf-8?Q?=00=FF?=",
      "=?utf-16be?B?2AA=?=",
      "a@a.example",
      "<",
      ">",
      '"',
      "(",
      ":",
      ";",
      ",",
      "\r\n",
      "\r\n\r\n",
      "\n",
      "\r",
      " ",
      "\t",
      "\0",
      "\xff\xfe",
      "\r\n--b\r\n",
      "\r\n--b--\r\n",
      "\r\nContent-Type: text/calendar",
      "\r\nContent-Type: message/delivery-status",
      "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\n",
      "BEGIN:VEVENT\r\nDTSTART;TZID=a:20260301T100000\r\n",
      "<p>x",
      "=3D=",
      "aGk="
    ])
  ),
  { maxLength: 60 }
).pipe(Arbitrary.map((pieces) => Buffer.from(pieces.join(""), "latin1")))

const Contents = Schema.Struct({
  message_id: InboundEvent.fields.message_id,
  from: Schema.NullOr(InboundEvent.fields.from),
  subject: InboundEvent.fields.subject,
  text: InboundEvent.fields.text,
  html: InboundEvent.fields.html,
  attachments: InboundEvent.fields.attachments,
  headers: InboundEvent.fields.headers,
  to: InboundEvent.fields.to,
  cc: InboundEvent.fields.cc,
  replyTo: InboundEvent.fields.replyTo,
  inReplyTo: InboundEvent.fields.inReplyTo,
  references: InboundEvent.fields.references,
  parse: InboundEvent.fields.parse,
  fromName: InboundEvent.fields.fromName,
  extracted: InboundEvent.fields.extracted,
  kind: InboundEvent.fields.kind
})

const ContentsJson = Schema.fromJsonString(Contents)
const encodeJson = Schema.encodeSync(ContentsJson)
const decodeJson = Schema.decodeSync(ContentsJson)

/** The parsed values, including those extracted later. */
const read = (bytes: Uint8Array) => {
  const { authors: _a, extracted, kind, match: _m, seen: _s, sender: _f, visible: _v, ...contents } = Mime.read(bytes)
  return { ...contents, extracted: extracted(), kind: kind("") }
}

const readable = (bytes: Uint8Array) => {
  const contents = read(bytes)
  const json = encodeJson(contents)
  assert.isTrue(json.isWellFormed())
  assert.notInclude(json, "\\u0000")
  assert.notMatch(json, /\\ud[89a-f]/i)
  assert.deepStrictEqual(decodeJson(json), contents)
  assert.strictEqual(JSON.stringify(read(Uint8Array.from(bytes))), JSON.stringify(contents))
  for (const { index, size } of contents.attachments) {
    assert.strictEqual(Mime.attachment(bytes, index)?.content.byteLength, size)
  }
}

/** Joins pieces of text. */
const text = (pieces: ReadonlyArray<string>, maxLength: number) =>
  Arbitrary.array(Arbitrary.schema(Schema.Literals(pieces)), { maxLength }).pipe(Arbitrary.map((some) => some.join("")))

const leaf = Arbitrary.all({
  isFile: Arbitrary.schema(Schema.Boolean),
  depth: Arbitrary.schema(Schema.Literals([0, 0, 1, 2, 7])),
  encoding: Arbitrary.schema(Schema.Literals(["8bit", "base64", "quoted-printable"])),
  words: text(["a", " b", "ü", "世界", "😀", "=", "=3D", ".", "--", "\r\n", "\r\n--b", "\r\n.", "From x"], 20),
  name: text(["a", "ü", " ", "世", "'", "%41", ".txt", ";", "(", "😀"], 8),
  content: Arbitrary.schema(Schema.Uint8Array)
})

const encoded = (encoding: string, bytes: Uint8Array) => {
  if (encoding === "base64") {
    return Buffer.from(Buffer.from(bytes).toString("base64").replace(/.{76}/g, "$&\r\n"))
  }
  return encoding === "8bit"
    ? Buffer.from(bytes)
    : Buffer.from(
        Buffer.from(bytes)
          .toString("latin1")
          .replace(/[^a-z\r\n]/g, (byte) => `=${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`)
          .replace(/[a-z=\dA-F]{60}/g, (run) => (/=.?$/.test(run) ? run : `${run}=\r\n`))
      )
}

/** Nested in this many multiparts. */
const nested = (part: Buffer, depth: number, id: string): Buffer =>
  depth === 0
    ? part
    : Buffer.concat([
        Buffer.from(`Content-Type: multipart/mixed; boundary="${id}.${depth}"\r\n\r\n--${id}.${depth}\r\n`),
        nested(part, depth - 1, id),
        Buffer.from(`\r\n--${id}.${depth}--\r\n`)
      ])

const tree = Arbitrary.all({
  subject: text(["a", " ", "ü", "世", "😀", "=?", "?=", "_", "\t"], 30),
  leaves: Arbitrary.array(leaf, { maxLength: 8 })
})

/** A crafted header. */
const hostile = Arbitrary.all({
  name: Arbitrary.schema(
    Schema.Literals([
      "From",
      "To",
      "Subject",
      "Content-Type",
      "Content-Disposition",
      "Content-Transfer-Encoding",
      "Date"
    ])
  ),
  value: text(
    [
      "a@a.example",
      "<",
      ">",
      '"',
      "\\",
      "(",
      ")",
      ":",
      ";",
      ",",
      "=?utf-8?B?",
      "=?utf-16?Q?=D8",
      "?=",
      "\r\n ",
      "\r",
      "\0",
      "\x80",
      "\xff"
    ].concat([
      "multipart/mixed; boundary=b",
      "name*0*=",
      "filename=",
      "../",
      "%00",
      "charset=",
      "base64",
      "x".repeat(300)
    ]),
    40
  )
})

describe("Random bytes", () => {
  it.prop("are parsed to values valid in JSON", { bytes: Schema.Uint8Array }, ({ bytes }) => readable(bytes))

  it.prop("in the form of a mail are parsed to values valid in JSON", { bytes: soup }, ({ bytes }) => readable(bytes), {
    arbitrary: { runs: 500 }
  })

  it.prop(
    "with a crafted header are parsed to values valid in JSON",
    { fields: Arbitrary.array(hostile, { maxLength: 6 }) },
    ({ fields }) =>
      readable(message(...fields.map(({ name, value }) => `${name}: ${value}`), "", "--b", "", "content", "--b--")),
    { arbitrary: { runs: 300 } }
  )
})

describe("A well-formed message of any structure", () => {
  it.prop(
    "yields its subject, texts and files",
    { tree },
    ({ tree: { leaves, subject } }) => {
      const parts = leaves.map(({ content, depth, encoding, isFile, name, words }, number) => {
        const body = isFile ? Buffer.from(content) : Buffer.from(`t${words}`)
        const header = isFile
          ? `Content-Type: application/x; x=y\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: attachment; filename*=utf-8''${encodeURIComponent(`n${name}`).replace(/['()]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`)}`
          : `Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: ${encoding}`
        return nested(
          Buffer.concat([Buffer.from(`${header}\r\n\r\n`), encoded(isFile ? "base64" : encoding, body)]),
          depth,
          `inner${number}`
        )
      })
      const bytes = Buffer.concat([
        Buffer.from(`Subject: =?utf-8?B?${Buffer.from(subject).toString("base64")}?=\r\n`),
        Buffer.from("Content-Type: multipart/mixed; boundary=outer\r\n\r\n"),
        ...parts.flatMap((part) => [Buffer.from("--outer\r\n"), part, Buffer.from("\r\n")]),
        Buffer.from("--outer--\r\n")
      ])
      const contents = Mime.read(bytes)
      assert.strictEqual(contents.parse, "full")
      assert.strictEqual(contents.subject, subject.trim())
      const texts = leaves.filter(({ isFile }) => !isFile).map(({ words }) => `t${words}`.replaceAll("\r\n", "\n"))
      if (leaves.length > 0) assert.strictEqual(contents.text, texts.join("\n"))
      const files = leaves.filter(({ isFile }) => isFile)
      assert.deepStrictEqual(
        contents.attachments.map(({ filename, size }) => [filename, size]),
        files.map(({ content, name }) => [`n${name}`.trim(), content.byteLength])
      )
      for (const [index, { content }] of files.entries()) {
        const part = Mime.attachment(bytes, index)
        assert.deepStrictEqual(Buffer.from(part?.content ?? []), Buffer.from(content))
      }
    },
    { arbitrary: { runs: 200 } }
  )
})
