import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as ExitCode from "./process/ExitCode.ts"
import * as Start from "./start/Start.ts"

NodeRuntime.runMain(Start.program, { teardown: ExitCode.teardown })
