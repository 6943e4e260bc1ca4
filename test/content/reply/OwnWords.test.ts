import { assert, describe, it } from "@effect/vitest"
import * as SeenHtml from "../../../src/content/html/SeenHtml.ts"
import * as Reply from "../../../src/content/reply/Reply.ts"

const replyTo = (text: string) => Reply.read({ text, marked: undefined })

const replyToHtml = (html: string) => {
  const { hasGaps, ownText, text } = SeenHtml.see(html)
  return Reply.read({ text, marked: hasGaps ? ownText : undefined })
}

const quotation = "On Mon, May 12, 2024 at 10:00 AM Bob <bob@b.example> wrote:\n> Is it ok?"

const around = (above: string, below: string) => `${above}\n\n${quotation}\n\n${below}`

describe("The author's words in a reply", () => {
  it.for([
    "No. The numbers are confidential until Friday.",
    "No, please unsubscribe me",
    "The laptop has a virus. Please send somebody",
    "The information is confidential and may not be shared.",
    "This message was intended only for Ada.",
    "Call +49 30 1234567",
    "https://b.example/answer",
    "Grace Hopper\ngrace@hopper.example\n+49 30 1234567"
  ])("stay if a greeting is above the quotation and the answer below: %s", (answer) => {
    assert.strictEqual(replyTo(around("Hi,", answer)), `Hi,\n\n${answer}`)
  })

  it("stay in the lines above a footer below the quotation", () => {
    const footer =
      "This e-mail and its attachments are confidential. If you are not the\nintended recipient, please delete it."
    assert.strictEqual(replyTo(around("Hi,", `Yes, go ahead.\n\n${footer}`)), "Hi,\n\nYes, go ahead.")
    assert.strictEqual(replyTo(around("Hi,", `Yes, go ahead.\n${footer}`)), "Hi,\n\nYes, go ahead.")
    assert.strictEqual(replyTo(around("Thanks!", footer)), "Thanks!")
  })

  it.for([
    "A.\n\n—\n\nPlease cancel the order today.",
    "A.\n\n--\n\nPlease cancel the order today",
    "A.\n\n--\n\nCall +49 30 1234567",
    "Call them:\n\n----\n\nAda +49 30 1234567\nBob +49 30 1234568\nCarl +49 30 1234569",
    "A.\n--\nPlease wire 500.",
    "ok\n\n___\n\nPlease wire 500.",
    "Please sign:\n\n____________________\nAda Lovelace\n\nI need it by Friday.",
    "了解です。\n\n--\n\n注文をキャンセルしてください。"
  ])("stay below a rule: %j", (text) => {
    assert.isNull(replyTo(text))
    assert.strictEqual(replyTo(`${text}\n\n${quotation}`), text)
  })

  it.for([
    "-- \nAda writes many words that nobody reads.",
    "--\nAda Lovelace\nHead of Research, Lovelace Inc.",
    "—\nAda",
    "--\n\nAda Lovelace\n\nwww.lovelace.example\n\n+44 20 7946 0000",
    "--\nThis e-mail is for you. If you are not the intended recipient, please delete it."
  ])("end above a signature: %j", (signature) => {
    assert.strictEqual(replyTo(`Noon works for me.\n\n${signature}`), "Noon works for me.")
  })

  it.for([
    "From: Berlin\nTo: Paris\nDate: 12 May\nCc: ada@acme.example\n\nTwo seats.",
    "From: Berlin\nTo: Paris\nDate: 12 May 2024 10:30\nCc: ada@acme.example\n\nTwo seats.",
    "Von: Berlin\nAn: Paris\nDatum: 12.05.2024\nBetreff: Reise\n\nZwei Sitze.",
    "Date: 12 May 10:30\nFrom: ada@acme.example\nTo: Bob\nSubject: Budget\n\nPlease invite.",
    "from: a\nto: b\nsubject: c\nbody: d\n\nIs that right?"
  ])("stay in fields of their own: %j", (fields) => {
    assert.isNull(replyTo(`Please book it.\n\n${fields}`))
    const html = `<p>Please book it.</p><p>${fields.replaceAll("\n", "</p><p>")}</p>`
    assert.isNull(replyToHtml(html))
  })

  it.for([
    "From: Lovelace, Ada\nSent: Wednesday, May 1, 2024 12:34 PM\nTo: Bob\nSubject: RE: goods",
    "Von: Lovelace, Ada\nGesendet: Mittwoch, 1. Mai 2024 12:34\nAn: Bob\nBetreff: AW: goods",
    "Lähettäjä: Ada\nLähetetty: keskiviikko 1. toukokuuta 2024 12.34\nVastaanottaja: Bob\nAihe: VS: goods",
    "من: Ada\nتاريخ: ٠١ مايو, ٢٠٢٤ ١٢:٣٤\nإلى: Bob\nالموضوع: goods",
    "________________________________\nFrom: Ada\nSent: 2024-05-01\nTo: Bob\nSubject: goods",
    "-----Original Message-----\nFrom: Ada\nSent: Wednesday\nTo: Bob"
  ])("end above the header of a mail: %j", (header) => {
    assert.strictEqual(replyTo(`Noon works for me.\n\n${header}\n\nShall we meet?`), "Noon works for me.")
  })

  it.for(["Hi team, our supplier said:", "Here is what the law says:", "Send this to ada@acme.example:"])(
    "stay around an unmarked blockquote of their own: %s",
    (line) => {
      assert.isNull(replyToHtml(`<p>${line}</p><blockquote>We need 500 units</blockquote><p>Please order them.</p>`))
    }
  )

  it("stay around marked lines of what a third party said", () => {
    assert.isNull(replyTo("Hi team, our supplier said:\n\n> We need 500 units\n\nPlease order them."))
  })

  it("end above an unmarked blockquote under an attribution line", () => {
    const line = "On 1 May 2024 12:34, Ada &lt;ada@acme.example&gt; wrote:"
    assert.strictEqual(replyToHtml(`<p>Yes.</p><p>${line}</p><blockquote>Shall we?</blockquote>`), "Yes.")
  })

  it("stay around a question above a line, and end above the marked line of a support system", () => {
    assert.isNull(replyTo("Please answer the question above the line in the form.\n\nBye"))
    assert.isNull(replyTo("Please type your answer above this line.\n\nBye"))
    assert.strictEqual(replyTo("Yes.\n\n--- Please reply above this line ---\n\nTicket 17"), "Yes.")
  })

  it.for([
    ['class="signature"', null],
    ['class="signature" id="terms"', null],
    ['id="Signature"', "Hi Bob,"],
    ['class="small" id="x_Signature"', "Hi Bob,"],
    ['class="ydp1a2bsignature"', "Hi Bob,"]
  ] as const)("stay in an element that no mail program marks as signature: %s", ([attributes, reply]) => {
    assert.strictEqual(replyToHtml(`<p>Hi Bob,</p><div ${attributes}>I agree with the terms.</div>`), reply)
  })

  it("stay in marked lines at the end that have no attribution line", () => {
    assert.isNull(replyTo("Run this:\n\n> rm -rf build"))
    assert.strictEqual(replyTo(`Run this:\n\n> rm -rf build\n\n${quotation}`), "Run this:\n\n> rm -rf build")
    assert.strictEqual(replyTo("Run this:\n\n> rm -rf build\n\n-- \nAda"), "Run this:\n\n> rm -rf build")
  })

  it.for([
    "> On 1 May 2024, at 12:34, Ada Lovelace <ada@lovelace.exam\n> ple> wrote:\n>\n> Shall we meet?",
    "> -----Original Message-----\n> Shall we meet?",
    "> From: Ada\n>\n> Shall we meet?"
  ])("end above marked lines that begin with an attribution: %j", (quoted) => {
    assert.strictEqual(replyTo(`Noon works for me.\n\n${quoted}`), "Noon works for me.")
  })
})
