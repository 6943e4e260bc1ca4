import { assert, describe, it } from "@effect/vitest"
import { News } from "../../src/delivery/News.ts"
import { DomainId } from "../../src/model/Domain.ts"
import { catchAllOf } from "../../src/model/Webhook.ts"

const domainOf = (number: number) => DomainId.make(`00000000-0000-7000-8000-${`${number}`.padStart(12, "0")}`)

describe("News of a process", () => {
  it("name each domain and webhook once, and are empty when they are taken", () => {
    const [news, other] = [new News("one"), new News("other")]
    const due = { domainId: domainOf(1), due: catchAllOf(domainOf(1)) }
    for (let mail = 0; mail < 5; mail++) news.add(due)
    news.add({ domainId: domainOf(1), due: null })
    const [message = "", ...more] = news.take()
    assert.deepStrictEqual(more, [])
    assert.deepStrictEqual(other.read(message), [due, { domainId: domainOf(1), due: null }])
    assert.deepStrictEqual(news.read(message), [])
    assert.isTrue(news.isEmpty)
    assert.deepStrictEqual(news.take(), [])
  })

  it("are bounded: 2,000 in a notice, and 10,000 that wait", () => {
    const news = new News("one")
    for (let number = 0; number < 12_000; number++) news.add({ domainId: domainOf(number), due: null })
    const notices: Array<ReadonlyArray<string>> = []
    while (!news.isEmpty) notices.push(news.take())
    const counts = notices.map((messages) => messages.flatMap((message) => new News("other").read(message)).length)
    assert.deepStrictEqual(counts, [2_000, 2_000, 2_000, 2_000, 2_000])
    assert.isTrue(notices.flat().every((message) => Buffer.byteLength(message) < 8_000))
  })

  it("of another version or program say nothing", () => {
    const news = new News("one")
    for (const message of ["", ",", "other,nonsense", "other,; DROP TABLE", `${domainOf(1)}`]) {
      assert.deepStrictEqual(news.read(message), [], message)
    }
  })
})
