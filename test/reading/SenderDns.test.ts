import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as SenderDns from "../../src/reading/SenderDns.ts"
import { heldBytes } from "../HeldBytes.ts"

const mails = 40
const fields = "X-Field: something that a header is full of\r\n".repeat(5_000)

/** A name as it stands in a header. */
const nameIn = (number: number): string => {
  const header = Buffer.from(`${fields}signer-number-${number}.sender.example`).toString()
  return header.slice(fields.length)
}

describe("The DNS of sender checks", () => {
  // Nobody answers there: failures are remembered too.
  it.live("remembers what came of a name, and nothing else of the header that the name stood in", () =>
    Effect.gen(function* () {
      const questions = SenderDns.make(["127.0.0.1:9"])
      const ask = (number: number) =>
        Effect.promise(() =>
          questions()(nameIn(number), "TXT").then(
            () => false,
            () => true
          )
        )
      assert.isTrue(yield* ask(-1))
      const before = yield* heldBytes
      const failed = yield* Effect.forEach(Array.from({ length: mails }).keys(), ask, { concurrency: 8 })
      assert.isTrue(failed.every((is) => is))
      assert.isBelow((yield* heldBytes) - before, (mails * fields.length) / 10)
    })
  )
})
