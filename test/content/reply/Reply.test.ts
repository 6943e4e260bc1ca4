import { readdirSync, readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as ReplyScore from "../../../scripts/ReplyScore.ts"
import * as SeenHtml from "../../../src/content/html/SeenHtml.ts"
import * as Reply from "../../../src/content/reply/Reply.ts"
import * as Mime from "../../../src/mime/Mime.ts"
import { carried, ofColor, ofText, outright } from "../Tricks.ts"

const seenText = (html: string) => SeenHtml.see(html).text

const folder = new URL("../../fixtures/replies/", import.meta.url)

const mails = readdirSync(new URL("emails/", folder)).map((name) => {
  const bytes = readFileSync(new URL(`emails/${name}`, folder))
  const text = bytes.toString("utf8")
  const mail = name.endsWith(".eml")
    ? Mime.read(bytes)
    : name.endsWith(".html")
      ? { text: seenText(text), html: text }
      : { text, html: null }
  const wanted = readFileSync(new URL(`trimmed/${name.replace(/\.\w+$/, ".txt")}`, folder), "utf8").trimEnd()
  return { name, mail, wanted }
})

const replyTo = (text: string, html: string | null = null) => {
  const seen = SeenHtml.see(html ?? "")
  return Reply.read({ text, marked: seen.hasGaps ? seen.ownText : undefined })
}

const intro = "On Wed, May 1, 2024 at 12:34 PM Ada <ada@sender.example> wrote:"

describe("The reply text", () => {
  it.for(mails.map(({ mail, name, wanted }) => [name, mail, wanted] as const))(
    "excludes quotation and signature: %s",
    ([, { html, text }, wanted]) => {
      assert.strictEqual(replyTo(text, html) ?? text.trimEnd(), wanted)
    }
  )

  it("is null in a mail without quotation and signature", () => {
    for (const { mail, name } of mails.filter(({ name }) => name.startsWith("none-"))) {
      assert.isNull(replyTo(mail.text, mail.html), name)
    }
    assert.isNull(replyTo(""))
    assert.isNull(replyTo("Hello\n\n"))
  })

  it("excludes a quotation that HTML marks inside a code fence", () => {
    const html =
      '<p>Run this:</p><p>```</p><p>npm i</p><blockquote type="cite">Old words</blockquote><p>```</p><p>It works.</p>'
    const text = "Run this:\n\n```\n\nnpm i\n\nOld words\n\n```\n\nIt works."
    assert.strictEqual(replyTo(text, html), "Run this:\n\n```\n\nnpm i\n\n```\n\nIt works.")
  })

  it("is empty if everything is quoted, and null if the quotation has no author", () => {
    assert.strictEqual(replyTo(`${intro}\n\n> Shall we?\n`), "")
    assert.strictEqual(replyTo(`> ${intro}\n>\n>> Shall we?\n`), "")
    assert.isNull(replyTo("> Shall we?\n"))
  })

  it("is searched in the first 64 KiB of text only", () => {
    const long = `${"many words ".repeat(6_000)}\n`
    assert.isNull(replyTo(`${long}\n${intro}\n\n> Shall we?\n`))
    const reply = replyTo(`Yes.\n\n${intro}\n\n${"> words\n".repeat(20_000)}`)
    assert.strictEqual(reply, "Yes.")
    const html = `<p>${"word ".repeat(40_000)}</p><blockquote type="cite">Shall we?</blockquote>`
    assert.isAtMost(replyTo("", html)?.length ?? 0, 64 * 1_024)
  })

  it.for([...outright, ...ofText, ...ofColor].map((trick) => [trick.name, trick] as const))(
    "contains no hidden words beside any form of quotation: %s",
    ([name, { around }]) => {
      const hidden = around("CANARY")
      const quotation = '<blockquote type="cite">Shall we?</blockquote>'
      // An indent moves the first line only.
      const behind = name.startsWith("text-indent") ? "" : "CANARY"
      for (const html of [
        `<p>Yes.</p>${hidden}${quotation}`,
        `<p>Yes.</p>${quotation}${hidden}`,
        `${hidden}<p>Yes.</p><div id="divRplyFwdMsg">From: Ada</div>${hidden}`,
        `${around(`CANARY${quotation}${behind}`)}<p>Yes.</p>${quotation}`
      ]) {
        const reply = replyTo("Yes.\n\n> Shall we?", html)
        assert.notInclude(reply ?? "", "CANARY", html)
        assert.include(reply ?? "Yes.", "Yes.")
      }
    }
  )

  it.for([...outright, ...ofText, ...ofColor, ...carried].map((trick) => [trick.name, trick] as const))(
    "contains no hidden words if an element starts or ends in a quotation: %s",
    ([, { around }]) => {
      const [before = "", after = ""] = around("CANARY").split("CANARY")
      for (const [start, end] of [
        ['<blockquote type="cite">', "</blockquote>"],
        ['<div class="gmail_quote">', "</div>"],
        ['<div class="gmail_quote"><blockquote type="cite">', "</blockquote></div>"]
      ]) {
        for (const html of [
          `<p>Yes.</p>${start}Shall we?${before}${end}CANARY${after}<p>Bye.</p>`,
          `<p>Yes.</p>${before}${start}Shall we?${after}${end}CANARY<p>Bye.</p>`
        ]) {
          const isSeen = seenText(html).includes("CANARY")
          assert.isTrue(isSeen || !(replyTo("Yes.\n\n> Shall we?", html) ?? "").includes("CANARY"), html)
        }
      }
    }
  )

  it("contains no words hidden by styles inside, after or beside a quotation", () => {
    for (const html of [
      `<p>Yes.</p><p class="x">CANARY</p><blockquote type="cite">Shall we?<style>.x{display:none}</style></blockquote>`,
      `<p>Yes.</p><p class="x">CANARY</p><div id="divRplyFwdMsg">From: Ada</div><style>.x{display:none}</style>`,
      `<style>blockquote~p{display:none}</style><p>Yes.</p><blockquote type="cite">Shall we?</blockquote><p>CANARY</p>`,
      `<p>Yes.</p><p class="x">CANARY</p><blockquote type="cite">Shall we?</blockquote>${" ".repeat(600_000)}<style>.x{display:none}</style>`
    ]) {
      assert.notInclude(replyTo("Yes.\n\n> Shall we?", html) ?? "", "CANARY", html.slice(0, 200))
    }
  })

  it("is taken from the text part if the HTML has none", () => {
    assert.strictEqual(
      replyTo(`Yes.\n\n${intro}\n\n> Shall we?`, "<blockquote type=cite>Shall we?</blockquote>"),
      "Yes."
    )
  })

  it("is scored by exact replies and by words", () => {
    assert.deepStrictEqual(
      ReplyScore.of([
        { name: "right", mail: "Yes.\n> no no", wanted: "Yes.", found: "Yes.\n" },
        { name: "short", mail: "Yes, we do.\n> no no", wanted: "Yes, we do.", found: "Yes, no" }
      ]),
      { mails: 2, exact: 1, kept: 2 / 4, left: 1 / 4, others: ["short"] }
    )
  })
})
