import { assert, describe, it } from "@effect/vitest"
import * as Reply from "../../../src/content/reply/Reply.ts"

const replyTo = (text: string) => Reply.read({ text, marked: undefined })

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
})
