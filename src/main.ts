import { NodeRuntime } from "@effect/platform-node"
import * as Start from "./Start.ts"

NodeRuntime.runMain(Start.program)
