import { assert, describe, it } from "@effect/vitest"
import * as AuthenticationResults from "../../src/sender/AuthenticationResults.ts"

const ours = "Authentication-Results: mx.inlet.example;\r\n\tspf=pass; dkim=none; dmarc=none; arc=none\r\n"
const forged = "Authentication-Results: mx.inlet.example; dmarc=pass\r\n"

const put = (message: string) =>
  Buffer.from(
    AuthenticationResults.put({
      message: Buffer.from(message),
      authenticationResults: ours,
      authservId: "mx.inlet.example"
    })
  ).toString()

describe("Inlet's Authentication-Results field", () => {
  it("is the first, and forged ones in its name are removed", () => {
    const others = "Authentication-Results: mx.other.example; dmarc=pass\r\n"
    assert.strictEqual(
      put(`Subject: a\r\n${forged}${others}\r\n${forged}`),
      `${ours}Subject: a\r\n${others}\r\n${forged}`
    )
  })

  it.for(['"mx.inlet.example"', '"mx\\.inlet.example"', '(a) "MX\\.inlet\\.exampl\\e"'])(
    "replaces a forged one with the name written as %s",
    (name) => {
      assert.strictEqual(put(`Authentication-Results: ${name}; dmarc=pass\r\n\r\n`), `${ours}\r\n`)
    }
  )

  it("is the only one in its name in an endless header, whose rest after 1 MiB is body", () => {
    const fields = "X-A: b\r\n".repeat(200_000)
    const told = put(`${forged}${fields}${forged}\r\nbody`)
    const end = told.indexOf("\r\n\r\n")
    assert.isBelow(end, 1_024 * 1_024 + ours.length)
    assert.isFalse(told.slice(ours.length, end).includes("Authentication-Results"))
    assert.strictEqual(told.replace("\r\n\r\n", "\r\n"), `${ours}${fields}${forged}\r\nbody`)
  })

  it("is added before a body without a header", () => {
    const body = "x".repeat(2 * 1_024 * 1_024)
    assert.strictEqual(put(`\r\n${body}`), `${ours}\r\n${body}`)
  })
})
