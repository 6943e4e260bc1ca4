import { assert, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import * as BalancerNews from "../../src/smtp/BalancerNews.ts"

it.effect("A load balancer with another header than Inlet expects is logged once a minute, with its address", () => {
  const logged: Array<string> = []
  const logger = Logger.make<unknown, void>(({ message }) => void logged.push(`${[message].flat()[0]}`))
  return Effect.gen(function* () {
    const news = yield* BalancerNews.make
    yield* news.tell(0)
    news.heard("misled", "192.0.2.1")
    news.heard("misled", "192.0.2.1")
    news.heard("unlisted", "192.0.2.2")
    yield* news.tell(1_000)
    assert.lengthOf(logged, 2)
    assert.match(logged[0] ?? "", /SMTP_PROXY_FROM began without a PROXY header of version 1/)
    assert.match(logged[1] ?? "", /add its address to SMTP_PROXY_FROM/)
    news.heard("misled", "192.0.2.1")
    yield* news.tell(2_000)
    assert.lengthOf(logged, 2)
    news.heard("misled", "192.0.2.1")
    yield* news.tell(61_000)
    assert.lengthOf(logged, 3)
  }).pipe(Effect.provide(Logger.layer([logger])))
})
