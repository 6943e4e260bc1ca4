import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Needs from "../Needs.ts"
import { S3Server } from "../simulators/S3Server.ts"
import * as PowerCuts from "./PowerCuts.ts"

describe("A loss of power, on the embedded database", Needs.options(Needs.recorder), () => {
  it.live(
    "takes no mail that was answered 250, in the middle, behind a stop or behind a start after kill -9: bytes, log and 250 are synced in this order",
    () => PowerCuts.lose("embedded"),
    600_000
  )

  it.live(
    "takes none that is in a bucket: the answer of the bucket, the log and the 250 follow in this order",
    () =>
      Effect.gen(function* () {
        const { settings } = yield* S3Server
        yield* PowerCuts.lose("embedded", settings)
      }).pipe(Effect.provide(S3Server.layer)),
    600_000
  )
})
