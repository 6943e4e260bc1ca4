import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as InletProcess from "../InletProcess.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"
import * as Bombardment from "./Bombardment.ts"

// A PostgreSQL server does not change how a message is parsed. `MimeBombs.test.ts` parses every costly message alone,
// and `npm run bench:bombs` sends every one.
layer(WebhookReceiver.layer, { excludeTestServices: true })("A costly message of 1 MiB", (it) => {
  it.effect("is answered 250, becomes an event in time and delays no other mail, in one form of five", () =>
    Effect.gen(function* () {
      const inlet = yield* InletProcess.start({
        ...(yield* InletProcess.installation),
        LOG_LEVEL: "error"
      })
      // The thread for slow messages has a low priority, so it is slow on a busy machine.
      const patience = 60_000
      const impacts = yield* Bombardment.run(inlet, { patience, every: 5 })
      for (const { answered, api, delivered, name, reply, smtp, timer } of impacts) {
        // Timers of the other client show how much the machine alone delays each step.
        const busy = 20 * timer
        assert.match(reply, /^250/, name)
        assert.isNotNull(delivered, name)
        assert.isBelow(answered, 2_000 + busy, name)
        assert.isBelow(delivered ?? Number.NaN, patience, name)
        // bench/README.md has the figures of an idle machine.
        assert.isBelow(api, 1_000 + busy, name)
        assert.isBelow(smtp, 1_000 + busy, name)
      }
    })
  )
})
