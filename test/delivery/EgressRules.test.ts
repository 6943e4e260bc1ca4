import { assert, describe, it } from "@effect/vitest"
import * as EgressRules from "../../src/delivery/EgressRules.ts"

const rules = (lists: { readonly allowPrivate?: boolean; readonly allow?: string[]; readonly deny?: string[] } = {}) =>
  EgressRules.make({ allowPrivate: false, allow: [], deny: [], ...lists })

/** The first and last address of each special-purpose range, and its public neighbors. */
const ranges: ReadonlyArray<
  readonly [range: string, first: string, last: string, before: string | undefined, after: string | undefined]
> = [
  ["this network", "0.0.0.0", "0.255.255.255", undefined, "1.0.0.0"],
  ["private 10/8", "10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0"],
  ["carrier-grade NAT", "100.64.0.0", "100.127.255.255", "100.63.255.255", "100.128.0.0"],
  ["loopback", "127.0.0.0", "127.255.255.255", "126.255.255.255", "128.0.0.0"],
  ["link-local", "169.254.0.0", "169.254.255.255", "169.253.255.255", "169.255.0.0"],
  ["private 172.16/12", "172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0"],
  ["protocol assignments", "192.0.0.0", "192.0.0.255", "191.255.255.255", "192.0.1.0"],
  ["documentation 1", "192.0.2.0", "192.0.2.255", "192.0.1.255", "192.0.3.0"],
  ["6to4 relays", "192.88.99.0", "192.88.99.255", "192.88.98.255", "192.88.100.0"],
  ["private 192.168/16", "192.168.0.0", "192.168.255.255", "192.167.255.255", "192.169.0.0"],
  ["benchmarks", "198.18.0.0", "198.19.255.255", "198.17.255.255", "198.20.0.0"],
  ["documentation 2", "198.51.100.0", "198.51.100.255", "198.51.99.255", "198.51.101.0"],
  ["documentation 3", "203.0.113.0", "203.0.113.255", "203.0.112.255", "203.0.114.0"],
  ["multicast and above", "224.0.0.0", "255.255.255.255", "223.255.255.255", undefined],
  ["below IPv6 global unicast", "::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", undefined, undefined],
  ["mapped IPv4", "::ffff:0:0", "::ffff:ffff:ffff", undefined, undefined],
  ["NAT64", "64:ff9b::", "64:ff9b::ffff:ffff", undefined, undefined],
  ["local NAT64", "64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", undefined, undefined],
  ["discard", "100::", "100::ffff:ffff:ffff:ffff", undefined, undefined],
  ["Teredo and its like", "2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2000:ffff::1", "2001:200::"],
  ["documentation", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db7:ffff::1", "2001:db9::"],
  ["6to4", "2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:ffff::1", "2003::"],
  ["documentation 2", "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "3ffe:ffff::1", "3fff:1000::"],
  ["above IPv6 global unicast", "4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", undefined, undefined],
  ["unique local", "fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", undefined, undefined],
  ["IPv6 link-local", "fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", undefined, undefined],
  ["site-local", "fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", undefined, undefined]
]

describe("The egress rules", () => {
  it("refuse every special-purpose range and allow the addresses beside it", () => {
    const judge = rules()
    for (const [range, first, last, before, after] of ranges) {
      assert.strictEqual(judge(first), "is not a public address", `${range}: ${first}`)
      assert.strictEqual(judge(last), "is not a public address", `${range}: ${last}`)
      if (before !== undefined) assert.isUndefined(judge(before), `before ${range}: ${before}`)
      if (after !== undefined) assert.isUndefined(judge(after), `after ${range}: ${after}`)
    }
  })

  it("allow every address if private addresses are allowed", () => {
    const judge = rules({ allowPrivate: true })
    for (const [, first, last] of ranges) assert.deepStrictEqual([judge(first), judge(last)], [undefined, undefined])
  })

  it("allow the addresses of WEBHOOK_ALLOW and not their neighbors", () => {
    const judge = rules({ allow: ["10.77.0.0/24", "192.168.1.5", "fd00:1::/32"] })
    for (const address of ["10.77.0.0", "10.77.0.255", "192.168.1.5", "fd00:1::1", "::ffff:10.77.0.1", "1.1.1.1"]) {
      assert.isUndefined(judge(address), address)
    }
    for (const address of ["10.77.1.0", "10.76.255.255", "192.168.1.6", "fd00:2::1", "64:ff9b::10.77.0.1"]) {
      assert.strictEqual(judge(address), "is not a public address", address)
    }
  })

  it("refuse the addresses of WEBHOOK_DENY in every IPv6 form", () => {
    const judge = rules({ allowPrivate: true, deny: ["169.254.169.254", "93.184.0.0/16", "2600::/16"] })
    for (const address of [
      "169.254.169.254",
      "::ffff:169.254.169.254",
      "::169.254.169.254",
      "::ffff:0:169.254.169.254",
      "64:ff9b::169.254.169.254",
      "2002:a9fe:a9fe::1",
      "93.184.215.14",
      "2600::1"
    ]) {
      assert.strictEqual(judge(address), "is a denied address", address)
    }
    for (const address of ["169.254.169.253", "93.185.0.0", "2601::1", "127.0.0.1"]) {
      assert.isUndefined(judge(address), address)
    }
  })

  it("prefer WEBHOOK_ALLOW over WEBHOOK_DENY", () => {
    const judge = rules({ allow: ["10.77.0.1"], deny: ["10.77.0.0/24"] })
    assert.isUndefined(judge("10.77.0.1"))
    assert.strictEqual(judge("10.77.0.2"), "is a denied address")
  })
})
