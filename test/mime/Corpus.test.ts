import { readFileSync } from "node:fs"
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Config, Effect, FileSystem } from "effect"
import { simpleParser } from "mailparser"
import * as Mime from "../../src/mime/Mime.ts"
import * as Needs from "../Needs.ts"

/** The expected values of a foreign message. An unknown column is undefined and not scored. */
interface Expected {
  readonly file: string
  readonly subject: string | undefined
  readonly senders: ReadonlyArray<string> | undefined
  readonly text: string | undefined
  readonly names: ReadonlyArray<string | null> | undefined
  readonly count: number | undefined
}

/** The values that a parser found, in the format of the columns. */
interface Found {
  readonly subject: string
  readonly senders: ReadonlyArray<string>
  readonly text: string
  readonly names: ReadonlyArray<string | null>
}

const columns = ["Subject", "Sender", "Text", "Attachment count", "Attachment names"] as const

const words = (text: string) => text.replace(/\s+/g, " ").trim()

const table = (text: string) => {
  const [head = "", ...rows] = text.trimEnd().split("\n")
  const names = head.split("\t")
  return rows.map((row) => {
    const cells = row.split("\t")
    return Object.fromEntries(names.map((name, at) => [name, cells[at] ?? ""]))
  })
}

const fixture = table(readFileSync(new URL("../fixtures/corpus-contents.tsv", import.meta.url), "utf8"))

const json = (value: string | undefined) => (value === undefined || value === "-" ? undefined : JSON.parse(value))

/**
 * The expected values of each message: those of its source, or those on which two foreign parsers agree. A separate
 * table has the content, and the values of broken messages that those parsers do not read.
 */
const expectations = (manifest: string, consensus: string): ReadonlyArray<Expected> => {
  const agreed = new Map(table(consensus).map((row) => [row.file, row]))
  const contents = new Map(fixture.map((row) => [row.file, row]))
  return table(manifest).map((row) => {
    const file = row.file ?? ""
    const agreement = agreed.get(file)
    const own = contents.get(file)
    const names = json(own?.attachment_names)
    return {
      file,
      subject: row.subject || (json(own?.subject) ?? json(agreement?.subject)),
      senders: json(own?.senders) ?? json(agreement?.from),
      text: row.text_prefix || own?.text_prefix || undefined,
      names,
      count: row.attachment_count ? Number(row.attachment_count) : names?.length
    }
  })
}

/** The correct columns, without unknown ones. */
const score = (expected: Expected, found: Found): ReadonlyArray<boolean | undefined> => {
  const { count, names, senders, subject, text } = expected
  const isOneDomain = new Set(senders?.map((address) => address.slice(address.lastIndexOf("@")).toLowerCase())).size < 2
  // An agent gets one author, or none if it is unclear.
  const author = senders === undefined || !isOneDomain ? [] : senders.slice(0, 1)
  const told = isOneDomain ? found.senders.slice(0, 1) : found.senders.length > 1 ? [] : found.senders
  return [
    subject === undefined ? undefined : words(found.subject) === words(subject),
    senders === undefined ? undefined : told.join().toLowerCase() === author.join().toLowerCase(),
    text === undefined ? undefined : words(found.text).startsWith(words(text)),
    count === undefined ? undefined : found.names.length === count,
    names === undefined ? undefined : JSON.stringify(found.names) === JSON.stringify(names)
  ]
}

const plainly = Effect.fnUntraced(function* (message: Buffer) {
  const mail = yield* Effect.promise(() => simpleParser(message))
  // Without its own derived content.
  const bare = yield* Effect.promise(() =>
    simpleParser(message, { keepCidLinks: true, skipHtmlToText: true, skipTextToHtml: true })
  )
  return {
    found: {
      subject: mail.subject ?? "",
      senders:
        mail.from?.value.flatMap(({ address, group }) =>
          address === undefined ? (group ?? []).flatMap((member) => member.address ?? []) : [address]
        ) ?? [],
      text: mail.text ?? "",
      names: mail.attachments.map(({ filename }) => filename ?? null)
    },
    said: [
      // Inlet attaches files that it shows in encoded form.
      bare.html || "",
      (bare.text ?? "").replace(/^begin \d{3} [\s\S]*?^end$/gm, ""),
      ...bare.attachments.map(({ content }) => content.toString("latin1"))
    ]
  }
})

const ours = Effect.fnUntraced(function* (message: Buffer) {
  const started = yield* Clock.currentTimeMillis
  const contents = Mime.read(message)
  const milliseconds = (yield* Clock.currentTimeMillis) - started
  const attachments = contents.attachments.map(({ index }) => Mime.attachment(message, index))
  return {
    contents,
    milliseconds,
    found: {
      subject: contents.subject,
      senders: contents.from === null ? [] : [contents.from],
      text: contents.text,
      names: contents.attachments.map(({ filename }) => filename)
    },
    said: [
      contents.text,
      contents.html ?? "",
      ...attachments.flatMap((part) =>
        part === undefined
          ? []
          : [Buffer.from(part.content).toString("utf8"), Buffer.from(part.content).toString("latin1")]
      )
    ]
  }
})

/** ASCII words that one parser shows and the other does not have. */
const missing = (said: ReadonlyArray<string>, from: ReadonlyArray<string>) => {
  const there = new Set(from.flatMap((text) => text.match(/\w{5,}/g) ?? []))
  const whole = from.join("\n")
  return [...new Set(said.flatMap((text) => text.match(/\b[A-Za-z]{5,}\b/g) ?? []))].filter(
    (word) => !there.has(word) && !whole.includes(word)
  )
}

const measure = Effect.gen(function* () {
  const folder = yield* Config.String("CORPUS_DIR")
  const fs = yield* FileSystem.FileSystem
  const read = (name: string) => fs.readFileString(`${folder}/${name}`)
  const expected = expectations(yield* read("MANIFEST.tsv"), yield* read("CONSENSUS.tsv"))
  return yield* Effect.forEach(expected, (message) =>
    Effect.gen(function* () {
      const bytes = Buffer.from(yield* fs.readFile(`${folder}/${message.file}`))
      const plain = yield* plainly(bytes)
      const own = yield* ours(bytes)
      return {
        file: message.file,
        plain: score(message, plain.found),
        own: score(message, own.found),
        vanished: missing(plain.said, own.said),
        milliseconds: own.milliseconds,
        parse: own.contents.parse
      }
    })
  )
}).pipe(Effect.provide(NodeServices.layer))

const count = (scores: ReadonlyArray<ReadonlyArray<boolean | undefined>>, column: number) =>
  scores.filter((one) => one[column] === true).length

describe("The messages of the corpus", () => {
  it.live(
    "are parsed at least as well as by simpleParser in every column, without lost content",
    () =>
      Effect.gen(function* () {
        const measured = yield* measure
        const rows = columns.map((column, at) => {
          const known = measured.filter(({ own }) => own[at] !== undefined).length
          const own = count(
            measured.map((one) => one.own),
            at
          )
          const plain = count(
            measured.map((one) => one.plain),
            at
          )
          return { column, known, own, plain }
        })
        for (const { column, own, plain } of rows) assert.isAtLeast(own, plain, column)
        assert.deepStrictEqual(
          measured.filter(({ vanished }) => vanished.length > 0).map(({ file, vanished }) => `${file}: ${vanished}`),
          []
        )
        for (const { file, milliseconds } of measured) assert.isBelow(milliseconds, 2_000, file)
        const documented = readFileSync(new URL("../../docs/parsing.md", import.meta.url), "utf8")
        assert.include(
          documented,
          [
            `| ${measured.length} messages | known | Inlet | plain \`simpleParser\` |`,
            "| --- | --- | --- | --- |",
            ...rows.map(({ column, known, own, plain }) => `| ${column} | ${known} | ${own} | ${plain} |`)
          ].join("\n")
        )
      }),
    Needs.options(Needs.corpus)
  )
})
