import { assert, describe, it } from "@effect/vitest"
import { DeliveryLines } from "../../src/delivery/DeliveryLines.ts"
import { WebhookId } from "../../src/model/Webhook.ts"
import { WorkspaceId } from "../../src/model/Workspace.ts"

interface Delivery {
  readonly webhookId: WebhookId
  readonly workspaceId: WorkspaceId
  readonly name: string
  readonly payload: Uint8Array
}

const uuid = (number: number) => `${number.toString(16).padStart(8, "0")}-0000-7000-8000-000000000000`
const domain = (number: number) => WebhookId.make(uuid(number))
const workspace = (number: number) => WorkspaceId.make(uuid(number))
const a = domain(0xa)
const b = domain(0xb)
const c = domain(0xc)

/**
 * A number of deliveries of a domain, named by the domain's last digit and a number. The domain has its own workspace
 * by default.
 */
const deliveries = (
  webhookId: WebhookId,
  count: number,
  { bytes = 10, workspaceId = WorkspaceId.make(webhookId) } = {}
): ReadonlyArray<Delivery> =>
  Array.from({ length: count }, (_, index) => ({
    webhookId,
    workspaceId,
    name: `${webhookId.slice(7, 8)}${index + 1}`,
    payload: new Uint8Array(bytes)
  }))

/** Queues with a concurrency of 2 for each domain, and the started deliveries. */
const recording = ({ concurrency = 100, concurrencyPerWebhook = 2 } = {}) => {
  const begun: Array<string> = []
  const running: Array<Delivery> = []
  const returned: Array<string> = []
  let wanted = 0
  const lines = new DeliveryLines<Delivery>({
    concurrency,
    concurrencyPerWebhook,
    hangMillis: 10_000,
    leaseMillis: 24_000,
    begin: (delivery) => {
      begun.push(delivery.name)
      running.push(delivery)
    },
    giveBack: (dropped) => void returned.push(...dropped.map(({ name }) => name)),
    wanting: () => void wanted++
  })

  /** Claims from these rows as from the table. Deliveries without a slot remain. */
  const claim = (...table: ReadonlyArray<Delivery>) => {
    const waiting = [...new Map(table.map((delivery) => [delivery.webhookId, delivery])).values()]
    const { admitted } = lines.admit(waiting, 1_000)
    const claimed = waiting.flatMap(({ webhookId }) =>
      table.filter((delivery) => delivery.webhookId === webhookId).slice(0, admitted.get(webhookId) ?? 0)
    )
    return { claimed: claimed.length, isMore: lines.take(claimed, admitted) }
  }

  /** Answers the oldest request of a domain after this time. */
  const answer = (webhookId: WebhookId, millis = 5, isSuccess = true) => {
    const index = running.findIndex((delivery) => delivery.webhookId === webhookId)
    const [delivery] = running.splice(index, 1)
    if (index < 0 || delivery === undefined) return assert.fail("nothing is under way")
    lines.answered(delivery, isSuccess, millis)
  }
  const end = (webhookId: WebhookId, millis = 5, isSuccess = true) => {
    answer(webhookId, millis, isSuccess)
    lines.settled(webhookId)
  }

  /** Domains with enough fast answers for their full concurrency. */
  const proven = (...domains: ReadonlyArray<WebhookId>) => {
    for (const webhookId of domains) {
      for (let places = 1; places === 1 || places < concurrencyPerWebhook; places *= 2) {
        claim(...deliveries(webhookId, 1))
        end(webhookId)
      }
    }
    lines.admit([], 1)
    begun.length = 0
    wanted = 0
  }
  return { lines, begun, running, returned, claim, answer, end, proven, wanted: () => wanted }
}

describe("The delivery queues", () => {
  it("start as many of a domain as its concurrency allows, and the next in order after each answer", () => {
    const { answer, begun, claim, lines, proven } = recording()
    proven(a)
    claim(...deliveries(a, 4))
    assert.deepStrictEqual(begun, ["a1", "a2"])
    answer(a)
    assert.deepStrictEqual(begun, ["a1", "a2", "a3"])
    lines.settled(a)
    answer(a)
    assert.deepStrictEqual(begun, ["a1", "a2", "a3", "a4"])
    answer(a)
    answer(a)
    assert.lengthOf(begun, 4)
  })

  it("respect the total concurrency and alternate between domains", () => {
    const { begun, claim, end, proven } = recording({ concurrency: 4 })
    proven(a, b, c)
    const own = { workspaceId: workspace(1) }
    claim(...deliveries(a, 6, own), ...deliveries(b, 4, own))
    assert.deepStrictEqual(begun, ["a1", "a2", "b1", "b2"])
    claim(...deliveries(c, 2, own))
    // Whichever request ends, the domain that has waited longest is next.
    for (const ended of [a, b, a, c, b, a]) end(ended)
    assert.deepStrictEqual(begun.slice(4), ["c1", "a3", "c2", "b3", "a4", "b4"])
  })

  it("do not delay other domains behind a hanging one", () => {
    const { begun, claim, end, proven } = recording({ concurrency: 4 })
    proven(a, b)
    claim(...deliveries(a, 6), ...deliveries(b, 6))
    assert.sameMembers(begun, ["a1", "b1", "a2", "b2"])
    for (let round = 0; round < 4; round++) end(b)
    assert.deepStrictEqual(begun.slice(4), ["b3", "b4", "b5", "b6"])
  })

  it("return what waits for a webhook that answers so late that leases would end first", () => {
    const { answer, begun, claim, proven, returned } = recording()
    proven(a)
    claim(...deliveries(a, 6))
    answer(a, 7_999)
    assert.deepStrictEqual([begun, returned], [["a1", "a2", "a3"], []])
    answer(a, 8_000)
    assert.deepStrictEqual(returned, ["a4", "a5", "a6"])
  })

  it("continue after a request that ends before it starts", () => {
    const ended: Array<string> = []
    const lines = new DeliveryLines<Delivery>({
      concurrency: 1,
      concurrencyPerWebhook: 1,
      hangMillis: 10_000,
      leaseMillis: 24_000,
      begin: (delivery) => {
        lines.answered(delivery, true, 0)
        lines.settled(delivery.webhookId)
        ended.push(delivery.name)
      },
      giveBack: () => {},
      wanting: () => {}
    })
    for (const delivery of deliveries(a, 3)) {
      assert.strictEqual(lines.reserve(a, 1), 1)
      lines.fill(delivery)
    }
    assert.deepStrictEqual(ended, ["a1", "a2", "a3"])
    assert.strictEqual(lines.underWay(), 0)
  })

  it("keep at most two batches of a domain sent but not recorded", () => {
    const { answer, begun, claim, lines, proven } = recording()
    proven(a)
    claim(...deliveries(a, 6))
    for (let count = 0; count < 4; count++) answer(a)
    assert.deepStrictEqual(begun, ["a1", "a2", "a3", "a4"])
    lines.settled(a)
    assert.deepStrictEqual(begun, ["a1", "a2", "a3", "a4", "a5"])
    lines.settled(a)
    assert.deepStrictEqual(begun, ["a1", "a2", "a3", "a4", "a5", "a6"])
  })

  it("reserve three batches for a fast domain, and three batches in total", () => {
    const { lines, proven } = recording({ concurrency: 4 })
    proven(a, b, c)
    assert.strictEqual(lines.reserve(a, 4), 4)
    assert.strictEqual(lines.reserve(a, 4), 2)
    assert.strictEqual(lines.reserve(b, 5), 5)
    assert.strictEqual(lines.reserve(c, 5), 1)
  })

  it("start a delivery in a reserved slot, and free the slot once its outcome is recorded", () => {
    const { answer, begun, lines, proven } = recording()
    proven(a)
    assert.strictEqual(lines.reserve(a, 6), 6)
    for (const delivery of deliveries(a, 3)) lines.fill(delivery)
    lines.release(a, 3)
    assert.deepStrictEqual(begun, ["a1", "a2"])
    assert.strictEqual(lines.reserve(a, 3), 3)
    lines.release(a, 3)
    answer(a)
    answer(a)
    // Three are still to be recorded.
    assert.strictEqual(lines.reserve(a, 4), 3)
    lines.release(a, 3)
    lines.settled(a)
    lines.settled(a)
    lines.admit([], 1)
    assert.strictEqual(lines.reserve(a, 5), 5)
  })

  it("offer no slot to a domain with deliveries left in the table, until a claim finds no more", () => {
    const { claim, end, lines, proven } = recording()
    proven(a)
    assert.strictEqual(lines.reserve(a, 7), 6)
    lines.release(a, 6)
    assert.strictEqual(lines.reserve(a, 1), 0)
    assert.deepStrictEqual(claim(...deliveries(a, 6)), { claimed: 6, isMore: false })
    end(a)
    // The claim took all that fitted, so there may be more.
    assert.strictEqual(lines.reserve(a, 1), 0)
    claim(...deliveries(b, 1))
    assert.strictEqual(lines.reserve(a, 1), 1)
  })

  it("request a claim once most deliveries of a domain with more are started", () => {
    const { claim, end, lines, proven, wanted } = recording()
    proven(a, b)
    claim(...deliveries(a, 7), ...deliveries(b, 5))
    for (let round = 0; round < 3; round++) end(a)
    assert.isTrue(lines.isBusy(a))
    assert.strictEqual(wanted(), 0)
    end(a)
    assert.isFalse(lines.isBusy(a))
    assert.strictEqual(wanted(), 1)
    for (let round = 0; round < 5; round++) end(b)
    assert.strictEqual(wanted(), 1)
  })

  it("request a claim after one without room once a batch is left in total", () => {
    const { claim, end, proven, wanted } = recording({ concurrency: 2 })
    proven(a, b, c)
    claim(...deliveries(a, 3), ...deliveries(b, 3))
    assert.strictEqual(claim(...deliveries(c, 1)).claimed, 0)
    for (const ended of [a, b, a]) end(ended)
    assert.strictEqual(wanted(), 0)
    end(b)
    assert.strictEqual(wanted(), 1)
    assert.strictEqual(claim(...deliveries(c, 4)).claimed, 4)
  })

  it("accept an equal share of a claim from each domain, and report the rest", () => {
    const { lines, proven } = recording({ concurrencyPerWebhook: 16 })
    proven(a, b)
    const waiting = [a, b].flatMap((webhookId) => deliveries(webhookId, 1))
    const { admitted, isCut } = lines.admit(waiting, 10)
    assert.deepStrictEqual(
      [...admitted],
      [
        [a, 5],
        [b, 5]
      ]
    )
    assert.isFalse(isCut)
    assert.isTrue(lines.take([...deliveries(a, 5), ...deliveries(b, 2)], admitted), "a may have more")
    assert.isTrue(lines.admit([...waiting, ...deliveries(c, 1)], 2).isCut)
  })

  it("start nothing after a stop, and return the waiting deliveries", () => {
    const { begun, claim, end, answer, lines, proven } = recording()
    proven(a, b)
    claim(...deliveries(a, 4), ...deliveries(b, 1))
    assert.deepStrictEqual(
      lines.stop().map(({ name }) => name),
      ["a3", "a4"]
    )
    assert.strictEqual(lines.underWay(), 3)
    answer(a)
    assert.strictEqual(lines.underWay(), 3)
    lines.settled(a)
    end(a)
    end(b)
    assert.strictEqual(lines.underWay(), 0)
    assert.strictEqual(lines.reserve(a, 1), 0)
    assert.strictEqual(claim(...deliveries(a, 1)).claimed, 0)
    assert.sameMembers(begun, ["a1", "a2", "b1"])
  })
})

/** Domains in a range of numbers, with `each` of them in one workspace. */
const domainsOf = (first: number, count: number, each: number) =>
  Array.from({ length: count }, (_, index) => ({
    webhookId: domain(first + index),
    workspaceId: workspace(0x10_000 + Math.floor((first + index) / each))
  }))

const one = ({ webhookId, workspaceId }: { readonly webhookId: WebhookId; readonly workspaceId: WorkspaceId }) =>
  deliveries(webhookId, 1, { workspaceId })

describe("Domains without a success", () => {
  it("start with a concurrency of 1, which doubles after each success", () => {
    const { begun, claim, end } = recording({ concurrency: 256, concurrencyPerWebhook: 16 })
    let table = deliveries(a, 400)
    const go = () => {
      const { claimed } = claim(...table)
      table = table.slice(claimed)
    }
    go()
    assert.lengthOf(begun, 1)
    for (const places of [2, 4, 8, 16, 16]) {
      const before = begun.length
      end(a)
      go()
      // One request has ended, and the concurrency has doubled.
      assert.isAtLeast(begun.length, before + 1)
      assert.strictEqual(begun.length - before, places === 16 && before > 16 ? 1 : places / 2 + 1)
    }
  })

  it("fall back to 1 after a timeout and return waiting deliveries for a later claim", () => {
    const { begun, claim, end, lines, proven, returned, running } = recording({ concurrencyPerWebhook: 4 })
    proven(a)
    claim(...deliveries(a, 12))
    assert.lengthOf(running, 4)
    end(a, 15_000, false)
    assert.deepStrictEqual(returned, ["a5", "a6", "a7", "a8", "a9", "a10", "a11", "a12"])
    assert.strictEqual(lines.reserve(a, 1), 0)
    for (let round = 0; round < 2; round++) end(a, 15_000, false)
    assert.strictEqual(claim(...deliveries(a, 8)).claimed, 0, "one of its requests is still under way")
    end(a, 15_000, false)
    assert.strictEqual(claim(...deliveries(a, 8)).claimed, 1)
    assert.lengthOf(begun, 5)
  })

  it("receive no handed-over deliveries during timeouts", () => {
    const { claim, end, lines } = recording()
    claim(...deliveries(a, 1))
    end(a, 15_000, false)
    lines.admit([], 1)
    assert.strictEqual(lines.reserve(a, 1), 0)
    claim(...deliveries(a, 1))
    end(a)
    lines.admit([], 1)
    assert.strictEqual(lines.reserve(a, 1), 1)
  })

  it("share at most half of the total concurrency", () => {
    const { claim, running } = recording({ concurrency: 256, concurrencyPerWebhook: 16 })
    claim(...domainsOf(1, 500, 1).flatMap(one))
    assert.lengthOf(running, 128)
  })

  it("share a quarter after timeouts, so that other new domains get a slot", () => {
    const { claim, end, running } = recording({ concurrency: 256, concurrencyPerWebhook: 16 })
    const hanging = domainsOf(1, 500, 1).flatMap(one)
    for (let rest = hanging; rest.length > 0; ) {
      rest = rest.slice(claim(...rest).claimed)
      for (const { webhookId } of [...running]) end(webhookId, 15_000, false)
    }
    claim(...hanging)
    assert.lengthOf(running, 64)
    claim(...domainsOf(1_000, 64, 1).flatMap(one))
    assert.lengthOf(running, 128)
  })

  it("leave a slot for another workspace while 500 domains of 100 workspaces hang", () => {
    const { begun, claim, running } = recording({ concurrency: 256, concurrencyPerWebhook: 16 })
    claim(...domainsOf(0, 500, 5).flatMap(one))
    assert.isAtMost(running.length, 127)
    begun.length = 0
    claim(...domainsOf(0, 500, 5).slice(200).flatMap(one), ...deliveries(domain(0xfff), 1))
    assert.include(begun, "f1")
  })

  it("take no slot from a domain that answers at once", () => {
    const { claim, end, lines, proven, running } = recording({ concurrency: 256, concurrencyPerWebhook: 16 })
    const tenant = domain(0xfff)
    proven(tenant)
    claim(...domainsOf(0, 500, 5).flatMap(one))
    const hanging = running.length
    for (let round = 0; round < 100; round++) {
      assert.strictEqual(lines.reserve(tenant, 16), 16)
      for (const delivery of deliveries(tenant, 16)) lines.fill(delivery)
      assert.lengthOf(running, hanging + 16)
      for (let request = 0; request < 16; request++) end(tenant)
    }
  })

  it("share a quarter while they answer slowly", () => {
    const { claim, end, running } = recording({ concurrency: 64, concurrencyPerWebhook: 16 })
    const slow = [a, b, c]
    for (const webhookId of slow) {
      for (let round = 0; round < 4; round++) {
        claim(...deliveries(webhookId, 1))
        end(webhookId, 3_000)
      }
    }
    claim(...slow.flatMap((webhookId) => deliveries(webhookId, 30)))
    assert.lengthOf(running, 16)
  })
})

describe("A workspace", () => {
  it("uses an eighth of the concurrency while others wait, and all of it otherwise", () => {
    const { claim, end, proven, running } = recording({ concurrency: 16, concurrencyPerWebhook: 16 })
    const [first, second] = domainsOf(1, 2, 10)
    if (first === undefined || second === undefined) return assert.fail("no domains")
    proven(first.webhookId, second.webhookId, b)
    const of = ({ webhookId, workspaceId }: typeof first, count: number) =>
      deliveries(webhookId, count, { workspaceId })
    claim(...of(first, 16), ...of(second, 16))
    assert.lengthOf(running, 16)
    claim(...deliveries(b, 16))
    const others = () => running.filter(({ webhookId }) => webhookId === b).length
    const round = () => end(running[0]?.webhookId ?? first.webhookId)
    for (let rounds = 0; rounds < 2; rounds++) round()
    assert.strictEqual(others(), 2)
    // Both have an eighth now, and alternate.
    for (let rounds = 0; rounds < 8; rounds++) round()
    assert.strictEqual(others(), 6)
  })
})

describe("Waiting payloads", () => {
  const mebibyte = 1024 * 1024

  it("are limited to 64 MiB, and the rest is returned for a later claim", () => {
    const { claim, lines, proven, returned, running } = recording()
    proven(a)
    assert.strictEqual(lines.reserve(a, 6), 6)
    for (const delivery of deliveries(a, 6, { bytes: 20 * mebibyte })) lines.fill(delivery)
    assert.lengthOf(running, 2)
    assert.deepStrictEqual(returned, ["a6"])
    assert.strictEqual(lines.roomForBytes(), 4 * mebibyte)
    assert.strictEqual(lines.reserve(a, 1), 0)
    proven(b)
    assert.strictEqual(claim(...deliveries(b, 1)).claimed, 1)
  })
})
