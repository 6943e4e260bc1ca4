#!/usr/bin/env node
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect } from "effect"
import * as ExitCode from "../process/ExitCode.ts"
import { program } from "./Program.ts"

NodeRuntime.runMain(Effect.provide(program, NodeServices.layer), { teardown: ExitCode.teardown })
