import { assert, describe, it } from "@effect/vitest"
import { Effect, Metric } from "effect"
import { read, threads } from "./OnThreads.ts"

const mail = (lines: ReadonlyArray<string>) => Buffer.from(lines.join("\r\n"))

const trace = ["Return-Path: <bounce@sender.example>", "Received: from client.example"]

const alternative = (header: ReadonlyArray<string>, plain: string, html: string) =>
  mail([
    ...trace,
    ...header,
    "MIME-Version: 1.0",
    'Content-Type: multipart/alternative; boundary="b"',
    "",
    "--b",
    "Content-Type: text/plain; charset=utf-8",
    "",
    plain,
    "--b",
    "Content-Type: text/html; charset=utf-8",
    "",
    html,
    "--b--",
    ""
  ])

const mails = {
  "a login code": alternative(
    ["From: Shop <noreply@shop.example>", "Subject: Your code is 482913", "Message-ID: <code@shop.example>"],
    "Your verification code is 482913. It is valid for ten minutes.",
    `<style>.h{display:none}</style><p class=h>482000</p><p>Your verification code is <b>482913</b>.</p>
     <a href="https://shop.example/login?token=aB3dE6gH9jK2mN5p">Log in</a>`
  ),
  "a newsletter in HTML": mail([
    ...trace,
    "From: News <news@list.example>",
    "Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=",
    "List-Id: <news.list.example>",
    "List-Unsubscribe: <https://list.example/u?x=1>, <mailto:off@list.example>",
    "List-Unsubscribe-Post: List-Unsubscribe=One-Click",
    "Content-Type: text/html; charset=iso-8859-1",
    "Content-Transfer-Encoding: quoted-printable",
    "",
    `<table>${'<tr><td>Gr=FC=DFe</td><td><a href=3D"https://list.example/a">mehr</a></td></tr>'.repeat(50)}</table>`
  ]),
  "a reply below a quotation": alternative(
    [
      "From: =?utf-8?B?QsOpYQ==?= <bea@person.example>",
      "Subject: Re: Lunch",
      "In-Reply-To: <first@person.example>",
      "References: <zero@person.example> <first@person.example>"
    ],
    "On Mon, 2 Feb 2026 at 10:00, Ada <ada@sender.example> wrote:\r\n> Noon?\r\n\r\nNoon is fine.\r\n\r\n-- \r\nBéa",
    '<div class="gmail_quote"><blockquote>Noon?</blockquote></div><p>Noon is fine.</p>'
  ),
  "a damaged part and a file": mail([
    ...trace,
    "From: ada@sender.example",
    "Content-Type: multipart/mixed; boundary=b",
    "",
    "--b",
    "Content-Transfer-Encoding: base64",
    "",
    "SGVs!bG8h",
    "--b",
    "Content-Type: application/pdf; name=a.pdf",
    "Content-Transfer-Encoding: base64",
    "",
    "JVBERi0xLjQK",
    "--b--",
    ""
  ])
} as const

const times = 100

/** Parses every mail on new threads. Returns the number of threads and the distinct payloads. */
const payloads = Effect.gen(function* () {
  const results = yield* Effect.forEach(
    Object.entries(mails),
    ([name, bytes]) =>
      Effect.map(
        Effect.replicateEffect(read(bytes), times, { concurrency: "unbounded" }),
        (many) => [name, new Set(many.map(({ payloads: [payload] }) => Buffer.from(payload ?? []).toString()))] as const
      ),
    { concurrency: "unbounded" }
  )
  const started = (yield* Metric.snapshot).flatMap(({ id, state }) =>
    id === "inlet_parser_threads" && "value" in state ? [Number(state.value)] : []
  )
  return { threads: Math.max(...started), results: new Map(results) }
}).pipe(
  // Starts a thread whenever a message waits.
  Effect.provide(threads({ waitMilliseconds: 0, crowdedMilliseconds: 0 }), { local: true })
)

describe("The same message", () => {
  it.live("yields the same payload a hundred times, in any thread and after a restart", () =>
    Effect.gen(function* () {
      const first = yield* payloads
      const second = yield* payloads
      assert.isAbove(first.threads, 1)
      assert.isAbove(second.threads, 1)
      for (const name of Object.keys(mails)) {
        const [payload = "", ...others] = first.results.get(name) ?? []
        assert.deepStrictEqual(others, [], name)
        assert.deepStrictEqual([...(second.results.get(name) ?? [])], [payload], name)
      }
      const told = (name: keyof typeof mails) => JSON.parse([...(first.results.get(name) ?? [])][0] ?? "{}")
      assert.strictEqual(told("a login code").extracted.code.value, "482913")
      assert.strictEqual(told("a reply below a quotation").reply, "Noon is fine.")
      assert.strictEqual(told("a damaged part and a file").attachments.length, 1)
    })
  )
})
