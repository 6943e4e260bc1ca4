import { assert, describe, it } from "@effect/vitest"
import { MailsInHand } from "../../src/reading/MailsInHand.ts"

const mebibyte = 1024 * 1024

/** Reserves messages of one size until the memory is full. Returns how many were admitted. */
const fill = (inHand: MailsInHand, tenant: string, bytes: number) => {
  let count = 0
  while (inHand.reserve(tenant, bytes)) count++
  return count
}

describe("The messages in memory", () => {
  it("of one tenant are limited to half of the 64 MiB", () => {
    const inHand = new MailsInHand()
    assert.strictEqual(fill(inHand, "a", mebibyte), 32)
    assert.strictEqual(fill(inHand, "b", mebibyte), 16)
  })

  it("have room for small messages of another tenant when large ones use the memory", () => {
    const inHand = new MailsInHand()
    for (let tenant = 0; tenant < 100; tenant++) fill(inHand, `heavy ${tenant}`, mebibyte)
    assert.isFalse(inHand.reserve("newcomer", mebibyte))
    assert.strictEqual(fill(inHand, "newcomer", 4_096), 64)
  })

  it("never exceed 96 MiB for any number of tenants", () => {
    const inHand = new MailsInHand()
    let bytes = 0
    for (let tenant = 0; tenant < 2_000; tenant++) {
      bytes += fill(inHand, `heavy ${tenant}`, mebibyte) * mebibyte
      bytes += fill(inHand, `small ${tenant}`, 64 * 1024) * 64 * 1024
    }
    assert.isAtMost(bytes, 96 * mebibyte)
  })

  it("release their reserved memory", () => {
    const inHand = new MailsInHand()
    const reserved = fill(inHand, "a", mebibyte)
    for (let count = 0; count < reserved; count++) inHand.release("a", mebibyte)
    assert.strictEqual(fill(inHand, "a", mebibyte), reserved)
  })
})
