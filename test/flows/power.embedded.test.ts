import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Needs from "../Needs.ts"
import { S3Server } from "../simulators/S3Server.ts"
import * as PowerCuts from "./PowerCuts.ts"

describe("A power cut, on the embedded database", Needs.options(Needs.recorder), () => {
  it.live(
    "loses no mail that was answered 250, during a run, after a stop or after kill -9: bytes, log and 250 are synced in this order",
    () => PowerCuts.lose("embedded"),
    600_000
  )

  it.live(
    "loses no mail in a bucket: the bucket's answer, the log and the 250 follow in this order",
    () =>
      Effect.gen(function* () {
        const { settings } = yield* S3Server
        yield* PowerCuts.lose("embedded", settings)
      }).pipe(Effect.provide(S3Server.layer)),
    600_000
  )
})
