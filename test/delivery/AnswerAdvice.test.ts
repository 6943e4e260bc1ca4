import { assert, describe, it } from "@effect/vitest"
import * as AnswerAdvice from "../../src/delivery/AnswerAdvice.ts"
import * as FailureReason from "../../src/delivery/FailureReason.ts"

const adviceOn = (error: string | null) => AnswerAdvice.of({ statusCode: null, error })

/** What is said of a reason that nobody foresaw. */
const general = adviceOn("no answer")

/** Each reason, with sample values. */
const reasons: Readonly<Record<keyof typeof FailureReason, string>> = {
  ...FailureReason,
  workersStopped: FailureReason.workersStopped(3),
  unsigned: FailureReason.unsigned("the key store is away"),
  unknownFormat: FailureReason.unknownFormat("acme"),
  unmadeBy: FailureReason.unmadeBy("acme"),
  tooLong: FailureReason.tooLong("acme", 9_000_000, 8_000_000)
}

describe("The advice on a failed delivery", () => {
  for (const [name, reason] of Object.entries(reasons)) {
    it(`fits ${JSON.stringify(reason)}`, () => {
      assert.notStrictEqual(adviceOn(reason), general, name)
    })
  }

  it("blames no webhook for a failure of the service", () => {
    for (const reason of [reasons.unsigned, reasons.unreadableSecret, reasons.unmade, reasons.databaseSilent]) {
      assert.strictEqual(
        adviceOn(reason),
        "This service failed before the request. Its operator finds the cause in its log"
      )
    }
    assert.match(adviceOn(reasons.workerStopped), /^A process of this service ended/)
  })

  it("takes no words of a client for a reason of the service", () => {
    for (const words of [
      "the database does not answer me",
      "a worker stopped",
      "no signing secret",
      "the message is gone"
    ]) {
      assert.strictEqual(adviceOn(words), general, words)
    }
  })

  it("names URL, server and way for a reason that nobody foresaw", () => {
    assert.strictEqual(general, "Check that the URL is right, and that its server runs and can be reached from here")
    assert.strictEqual(adviceOn(null), general)
  })
})
