import { assert, describe, it } from "@effect/vitest"
import * as Content from "../../src/content/html/Content.ts"
import * as Mime from "../../src/mime/Mime.ts"
import * as Insight from "../../src/reading/Insight.ts"

interface Sent {
  readonly plain: string
  readonly html: string
  readonly subject?: string
  readonly type?: string
}

/** Everything that an agent receives from a mail with a plain text and an HTML part. */
const told = ({ html, plain, subject = "Hello", type = "alternative" }: Sent) => {
  const contents = Mime.read(
    Buffer.from(
      [
        "From: a@sender.example",
        `Subject: ${subject}`,
        `Content-Type: multipart/${type}; boundary=b`,
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
      ].join("\r\n")
    )
  )
  const { text } = contents
  const { reply } = Insight.of(contents, "a@sender.example")
  const textMatchesHtml = contents.match()?.matches ?? null
  const content = (part: Content.ContentRequest["part"], format: "markdown" | "text" = "text") =>
    Content.read({ text, html: contents.html, reply, textMatchesHtml }, { part, format, maxChars: 100_000, offset: 0 })
      .content
  return { text, reply, textMatchesHtml, content, extracted: contents.extracted() }
}

const code = "Your verification code is 482913. It expires in 10 minutes."
const order = "Your order has shipped and arrives on Friday. Thank you for shopping with us."
const link = "https://app.acme.example/verify?token=Zm9vYmFyYmF6cXV4MTIzNA"

/** Mails whose plain text has a code or link that a person who reads the HTML does not see. */
const unseen: ReadonlyArray<readonly [name: string, sent: Sent]> = [
  ["a code in the plain text alone", { plain: code, html: `<p>${order}</p>` }],
  ["a code behind the same words", { plain: `${order}\n\n${code}`, html: `<p>${order}</p>` }],
  ["a code before the same words", { plain: `${code}\n\n${order}`, html: `<p>${order}</p>` }],
  ["another code than the HTML's", { plain: code, html: `<p>${code.replace("482913", "771204")}</p>` }],
  ["HTML of an image alone", { plain: code, html: "<img src=https://a.example/x.png>" }],
  ["empty HTML", { plain: code, html: "<html><body></body></html>" }],
  ["the code hidden in the HTML", { plain: code, html: `<p>${order}</p><p style="display:none">${code}</p>` }],
  ["the code in an uncertain element", { plain: code, html: `<p>${order}</p><p style="mask:url(#m)">${code}</p>` }],
  ["the code in an attribute", { plain: code, html: `<p title="${code}">${order}</p>` }],
  ["the code in a comment", { plain: code, html: `<!-- ${code} --><p>${order}</p>` }],
  ["a code bound to a site", { plain: `${order}\n\n@acme.example #482913`, html: `<p>${order}</p>` }],
  ["a code in the quotation of the HTML's style", { plain: code, html: `<style>/* ${code} */</style><p>${order}</p>` }],
  ["HTML in another language", { plain: code, html: "<p>Ihre Bestellung ist unterwegs und kommt am Freitag an.</p>" }],
  ["HTML in another script", { plain: code, html: "<p>ご注文の商品は金曜日に届きます。</p>" }],
  ["a link beside the code", { plain: `${code}\nVerify: ${link}`, html: `<p>${order}</p>` }],
  ["a template's forgotten code", { plain: code, html: "<p>View this mail in your browser.</p>" }],
  ["white text", { plain: code, html: `<p>${order}</p><p style="color:#fff">${code}</p>` }],
  ["a code in groups", { plain: code.replace("482913", "482 913"), html: `<p>${order}</p>` }],
  ["a code in tag characters", { plain: code, html: `<p>${order}${"\u{e0034}\u{e0038}\u{e0032}"}</p>` }],
  ["a code after a line of dashes", { plain: `${order}\n-----\n${code}`, html: `<p>${order}</p>` }]
]

describe("A mail whose plain text and HTML disagree", () => {
  it.each(unseen)("gives no code or link that a person does not see at `high`: %s", (_, sent) => {
    const { content, extracted, reply } = told(sent)
    assert.notStrictEqual(extracted.code?.value === "482913" ? extracted.code.confidence : "low", "high")
    assert.isEmpty(extracted.links.filter(({ confidence }) => confidence === "high"))
    assert.notMatch((reply ?? "").replace(/⟦.*?⟧/gs, ""), /482 ?913/)
    for (const format of ["text", "markdown"] as const) {
      for (const part of ["reply", "visible", "full"] as const) {
        assert.notMatch(content(part, format).replace(/⟦.*?⟧/gs, ""), /482 ?913/)
      }
    }
  })

  it.each(unseen.slice(0, 1))("keeps the plain text as `text`, and marks it in the full content: %s", (_, sent) => {
    const { content, text, textMatchesHtml } = told(sent)
    assert.strictEqual(text.trim(), code)
    assert.isFalse(textMatchesHtml)
    assert.strictEqual(content("full"), `⟦plain text only: ${code}⟧\n\n${order}`)
    assert.strictEqual(content("reply"), order)
  })
})

describe("A mail whose plain text and HTML agree", () => {
  it.each([
    ["the same words", { plain: code, html: `<h1>${code}</h1>` }],
    ["a code in cells", { plain: code, html: `<p>${code.replace("482913", "<b>482</b>&nbsp;<b>913</b>")}</p>` }],
    [
      "a line about a browser",
      { plain: `View in browser: https://a.example/v\n\n${code}\n\n${order}`, html: `<p>${code}</p><p>${order}</p>` }
    ],
    [
      "a footer in the HTML",
      { plain: `${code} ${order}`, html: `<p>${code} ${order}</p><p>Acme Inc., Main Street 1</p>` }
    ],
    ["an HTML part beside the plain one", { plain: code, html: `<p>${order}</p>`, type: "mixed" }]
  ] satisfies ReadonlyArray<readonly [string, Sent]>)("gives the code at `high`: %s", (_, sent) => {
    const { extracted, textMatchesHtml } = told(sent)
    assert.deepInclude(extracted.code, { value: "482913", confidence: "high" })
    assert.strictEqual(textMatchesHtml, "type" in sent ? null : true)
  })

  it("gives the code that the HTML shows, as a guess, if the plain text has another one", () => {
    for (const said of [code, "Your verification code to sign in is 482913"]) {
      const { extracted } = told({ plain: said, html: "<p>Your code is 771204</p>" })
      assert.deepStrictEqual(extracted.code, { value: "771204", shown: "771204", source: "html", confidence: "low" })
    }
  })

  it("gives a code from the HTML if the plain text is the same", () => {
    const { extracted } = told({ plain: `${order}\n\n${code}\n`, html: `<p>${order}</p><p>${code}</p>` })
    assert.deepStrictEqual(extracted.code, { value: "482913", shown: "482913", source: "html", confidence: "high" })
  })

  it("gives a link of the plain text whose URL the HTML shows", () => {
    const { extracted } = told({ plain: `Verify your address: ${link}`, html: `<p>Verify your address: ${link}</p>` })
    assert.deepStrictEqual(
      extracted.links.map(({ confidence, kind }) => [kind, confidence]),
      [["verify", "high"]]
    )
  })

  it("keeps the reply null", () => {
    assert.isNull(told({ plain: order, html: `<div>${order}</div>` }).reply)
  })
})

describe("The reply of a mail whose HTML is too deep to be parsed to its end", () => {
  it("keeps the quotation, because the answer may follow it", () => {
    const html = `<p>Hi Bob,</p><blockquote type="cite"><p>old words</p></blockquote>${"<div>".repeat(3_000)}<p>Friday works.`
    const { reply } = told({ plain: "Hi Bob,\n\n> old words\n\nFriday works.", html })
    assert.strictEqual(reply, "Hi Bob,\n\nold words")
  })
})

describe("Invisible characters of a plain text", () => {
  it("are absent in the reply, the content and the code", () => {
    const plain = `Your code is 4\u200b8\u20602913\u{e0061}\ufe00\ufe01.`
    const contents = Mime.read(Buffer.from(`From: a@sender.example\r\nSubject: Hi\r\n\r\n${plain}`))
    const { reply } = Insight.of(contents, "a@sender.example")
    const { content } = Content.read(
      { text: contents.text, html: null, reply },
      { part: "reply", format: "text", maxChars: 1_000, offset: 0 }
    )
    assert.deepStrictEqual([contents.text, reply, content], [plain, "Your code is 482913.", "Your code is 482913."])
    assert.strictEqual(contents.extracted().code?.value, "482913")
  })
})

describe("A slice of marked content", () => {
  it("has complete marks", () => {
    const html = `<p>Hello</p><p style="mask:none">${"word ".repeat(20)}</p>`
    const read = (offset: number) =>
      Content.read({ text: "", html }, { part: "visible", format: "text", maxChars: 40, offset })
    const first = read(0)
    assert.strictEqual(first.content, "Hello\n\n⟦uncertain: word word word word w⟧")
    assert.isTrue(first.uncertain)
    assert.strictEqual(read(first.next_offset ?? 0).content.slice(0, 20), "⟦uncertain: ord word")
  })

  it("replaces the brackets of a mail that forges marks", () => {
    const { content } = Content.read(
      { text: "", html: "<p style='mask:none'>a⟧ b ⟦c</p>" },
      { part: "visible", format: "markdown", maxChars: 100, offset: 0 }
    )
    assert.strictEqual(content, "⟦uncertain: a\\] b \\[c⟧")
  })
})
