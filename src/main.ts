import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Start from "./start/Start.ts"

NodeRuntime.runMain(Start.program)
