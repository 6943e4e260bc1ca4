import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import * as ThreadId from "../../src/content/ThreadId.ts"

const of = (mail: Partial<Parameters<typeof ThreadId.of>[0]>) =>
  ThreadId.of({
    domain: "example.com",
    references: [],
    inReplyTo: null,
    messageId: null,
    sha256: createHash("sha256").update("message").digest(),
    ...mail
  })

describe("The thread id", () => {
  it("is a UUIDv8 of SHA-256 over the domain and the first message id", () => {
    const hex = createHash("sha256").update("example.com\n1@sender.example").digest("hex")
    const id = of({ messageId: "<1@sender.example>" })
    assert.match(id, /^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
    assert.strictEqual(id.slice(0, 13), `${hex.slice(0, 8)}-${hex.slice(8, 12)}`)
    assert.strictEqual(id.slice(24), hex.slice(20, 32))
  })

  it("is shared by a message and its replies, also if Inlet did not receive the first", () => {
    const root = of({ messageId: "<1@sender.example>" })
    assert.strictEqual(of({ messageId: "<2@a.example>", inReplyTo: "<1@sender.example>" }), root)
    assert.strictEqual(of({ messageId: "<3@a.example>", references: ["<1@sender.example>", "<2@a.example>"] }), root)
    assert.strictEqual(of({ references: ["<1@sender.example>"], inReplyTo: "<2@a.example>" }), root)
  })

  it("is the same for every spelling of the message id", () => {
    const root = of({ messageId: "<1@sender.example>" })
    for (const inReplyTo of [
      "1@sender.example",
      "< 1@sender.example >",
      "Your mail of Monday <1@sender.example>",
      "<1@sender.example> <9@x>"
    ]) {
      assert.strictEqual(of({ inReplyTo }), root, inReplyTo)
    }
    assert.strictEqual(of({ references: ["<1@sender.example><2@a.example>"] }), root)
  })

  it("differs between domains, and is taken from the bytes of a message without ids", () => {
    assert.notStrictEqual(of({ messageId: "<1@a>", domain: "example.org" }), of({ messageId: "<1@a>" }))
    assert.strictEqual(of({}), of({}))
    assert.notStrictEqual(of({ sha256: Buffer.alloc(32) }), of({}))
    assert.strictEqual(of({ messageId: "<>", references: [""], inReplyTo: " " }), of({}))
  })
})
