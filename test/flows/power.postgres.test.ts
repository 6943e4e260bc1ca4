import { describe, it } from "@effect/vitest"
import * as Needs from "../Needs.ts"
import * as PowerCuts from "./PowerCuts.ts"

describe("A loss of power, on a PostgreSQL server", Needs.options(Needs.cluster, Needs.recorder), () => {
  it.live(
    "takes no mail that was answered 250, in the middle, behind a stop or behind a start after kill -9: bytes, log and 250 are synced in this order",
    () => PowerCuts.lose("server"),
    600_000
  )
})
