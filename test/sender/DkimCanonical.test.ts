import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import * as DkimCanonical from "../../src/sender/DkimCanonical.ts"

const sha256 = (text: string) => createHash("sha256").update(text, "latin1").digest("base64")
const hashes = (body: string) => {
  const bytes = Buffer.from(body, "latin1")
  return [DkimCanonical.bodyHash(bytes, "simple"), DkimCanonical.bodyHash(bytes, "relaxed")]
}

describe("The DKIM canonical form", () => {
  const fields = [
    { name: "a", line: "A: X" },
    { name: "b", line: "B : Y\t\r\n\tZ  " }
  ]
  const signature = { name: "dkim-signature", line: "DKIM-Signature: v=1;  h=a:b; b = x\r\n yz=\t; z=b=1" }
  const signed = (names: ReadonlyArray<string>, form: DkimCanonical.Canonicalization) =>
    DkimCanonical.header(fields, names, signature, form).toString("latin1")

  it("matches the example of RFC 6376, section 3.4.5, in both modes, with an empty b= in the signature", () => {
    assert.strictEqual(signed(["a", "b"], "relaxed"), "a:X\r\nb:Y Z\r\ndkim-signature:v=1; h=a:b; b =; z=b=1")
    assert.strictEqual(
      signed(["a", "b"], "simple"),
      "A: X\r\nB : Y\t\r\n\tZ  \r\nDKIM-Signature: v=1;  h=a:b; b =; z=b=1"
    )
    assert.deepStrictEqual(hashes(" C \r\nD \t E\r\n\r\n\r\n"), [sha256(" C \r\nD \t E\r\n"), sha256(" C\r\nD E\r\n")])
  })

  it("contains the listed fields from the last occurrence on, and skips absent ones", () => {
    const twice = [...fields, { name: "a", line: "A: last" }]
    const names = ["a", "none", "a", "a"]
    assert.strictEqual(
      DkimCanonical.header(twice, names, { name: "s", line: "S: b=" }, "simple").toString("latin1"),
      "A: last\r\nA: X\r\nS: b="
    )
  })

  it("is CRLF for an empty simple body, and empty for a relaxed one", () => {
    // Both hashes are in RFC 6376, sections 3.4.3 and 3.4.4.
    const empty = ["frcCV1k9oG9oKj3dpUqdJg1PxRT2RSN/XKdLCPjaYaY=", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="]
    for (const body of ["", "\r\n", "\r\n\r\n\r\n", "\n\n"]) assert.deepStrictEqual(hashes(body), empty)
    assert.strictEqual(hashes(" \t\r\n\t")[1], empty[1])
  })

  it("ends with CRLF, and has CRLF for each bare LF", () => {
    assert.deepStrictEqual(hashes("one\ntwo\n\nthree"), hashes("one\r\ntwo\r\n\r\nthree\r\n"))
    assert.deepStrictEqual(hashes("one\r\r\n"), [sha256("one\r\r\n"), sha256("one\r\r\n")])
  })

  it("is the same for a body of any length", () => {
    for (const length of [32_767, 32_768, 32_769, 65_536, 100_000]) {
      for (const line of ["x\r\n", " \t x \r\n", "x\n"]) {
        const body = line.repeat(length / line.length + 1)
        const simple = body.replace(/\r?\n/g, "\r\n")
        const relaxed = simple.replace(/[ \t]+\r\n/g, "\r\n").replace(/[ \t]+/g, " ")
        assert.deepStrictEqual(hashes(body), [sha256(simple), sha256(relaxed)], `${length} of ${JSON.stringify(line)}`)
      }
    }
  })
})
