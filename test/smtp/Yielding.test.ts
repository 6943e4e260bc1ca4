import { assert, describe, it } from "@effect/vitest"
import * as Yielding from "../../src/smtp/Yielding.ts"

/** Sessions with their network and idle time, named by both. */
const sessions = (...all: ReadonlyArray<readonly [client: string, milliseconds: number]>) =>
  all.map(([client, milliseconds]) => ({ session: `${client} ${milliseconds}`, client, milliseconds }))

const counts = (of: Readonly<Record<string, number>>) => (client: string) => of[client] ?? 0

describe("A slot for one more connection", () => {
  it("is taken from the longest idle session of the busiest network", () => {
    const waiting = sessions(["a", 100], ["b", 100], ["b", 300], ["c", 4_000])
    assert.strictEqual(Yielding.forOneMore(waiting, "d", counts({ a: 5, b: 125, c: 40 })), "b 300")
  })

  it("is not taken from a network that would then have fewer than the newcomer", () => {
    const waiting = sessions(["a", 100], ["b", 100])
    assert.strictEqual(Yielding.forOneMore(waiting, "b", counts({ a: 2, b: 1 })), undefined)
    assert.strictEqual(Yielding.forOneMore(waiting, "c", counts({ a: 1, b: 1 })), undefined)
  })

  it("is taken from an idle session if no network has more than others", () => {
    const waiting = sessions(["a", 100], ["b", 6_000], ["c", 9_000])
    assert.strictEqual(Yielding.forOneMore(waiting, "d", counts({ a: 1, b: 1, c: 1 })), "c 9000")
  })
})

describe("Idle sessions", () => {
  it("end after 5 s, in the order of their networks' connections and then of their idle time", () => {
    const waiting = sessions(["a", 60_000], ["b", 6_000], ["b", 7_000], ["b", 100], ["c", 5_000])
    assert.deepStrictEqual(Yielding.idle(waiting, counts({ a: 1, b: 125, c: 40 })), [
      "b 7000",
      "b 6000",
      "c 5000",
      "a 60000"
    ])
  })
})
