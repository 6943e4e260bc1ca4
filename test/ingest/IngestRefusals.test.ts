import { assert, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import * as IngestRefusals from "../../src/ingest/IngestRefusals.ts"
import * as Reply from "../../src/intake/Reply.ts"
import { DomainId } from "../../src/model/Domain.ts"
import { WorkspaceId } from "../../src/model/Workspace.ts"
import { RefusalNotes } from "../../src/refusals/RefusalNotes.ts"

it.effect(
  "A relay that repeats refused recipients gets 100 lines of the log in 10 seconds, and all in the ledger",
  () => {
    const logged: Array<unknown> = []
    let noted = 0
    return Effect.gen(function* () {
      const refusals = yield* IngestRefusals.make
      const refuse = refusals.refused({
        workspaceId: WorkspaceId.make("01981c9e-0000-7000-8000-000000000001"),
        domain: { id: DomainId.make("01981c9e-0000-7000-8000-000000000002") },
        envelope: { from: "ada@sender.example", helo: "", remoteAddress: "", relayed: true },
        reply: Reply.badRecipient,
        recipients: ["nobody"]
      })
      yield* Effect.replicateEffect(refuse, 250, { discard: true })
      assert.lengthOf(logged, 100)
      assert.strictEqual(noted, 250)
    }).pipe(
      Effect.provideService(RefusalNotes, RefusalNotes.of({ note: () => void noted++ })),
      Effect.provide(Logger.layer([Logger.make(({ message }) => void logged.push(message))]))
    )
  }
)
