import { describe, it } from "@effect/vitest"
import * as Needs from "../Needs.ts"
import * as PowerCuts from "./PowerCuts.ts"

describe("A power cut, on a PostgreSQL server", Needs.options(Needs.cluster, Needs.recorder), () => {
  it.live(
    "loses no mail that was answered 250, during a run, after a stop or after kill -9: bytes, log and 250 are synced in this order",
    () => PowerCuts.lose("server"),
    600_000
  )
})
