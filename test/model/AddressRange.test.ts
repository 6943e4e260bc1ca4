import { assert, describe, it } from "@effect/vitest"
import * as AddressRange from "../../src/model/AddressRange.ts"

describe("A range of addresses", () => {
  it.each([
    ["192.0.2.7", "192.0.2.7"],
    ["192.0.2.77/24", "192.0.2.0/24"],
    ["0.0.0.0/0", "0.0.0.0/0"],
    ["2001:DB8::1/32", "2001:db8::/32"],
    ["::ffff:192.0.2.7", "192.0.2.7"],
    ["::ffff:192.0.2.7/120", "192.0.2.0/24"],
    ["::ffff:0:0/90", "::ffc0:0:0/90"]
  ])("%s is %s", (text, canonical) => {
    const range = AddressRange.parse(text)
    assert.strictEqual(range === undefined ? undefined : AddressRange.format(range), canonical)
  })

  it.each([
    "192.168.1/24",
    "1.2.3",
    "167772161/8",
    "010.1.2.3",
    "0x0a.1.2.3",
    "192.0.2.0/33",
    "192.0.2.0/08",
    "192.0.2.0/",
    "/24",
    "::/129",
    "fe80::1%eth0",
    " 192.0.2.1"
  ])("is not %s", (text) => {
    assert.isUndefined(AddressRange.parse(text))
  })

  it("contains an IPv4 address in either form", () => {
    for (const range of ["192.0.2.0/24", "::ffff:192.0.2.0/120"]) {
      const contains = AddressRange.contains([range])
      assert.deepStrictEqual(["192.0.2.9", "::ffff:192.0.2.9", "192.0.3.9", "2001:db8::1"].map(contains), [
        true,
        true,
        false,
        false
      ])
    }
  })
})
