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
})
