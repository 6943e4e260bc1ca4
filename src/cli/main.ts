#!/usr/bin/env node
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { version } from "../Version.ts"
import * as Domains from "./Domains.ts"
import * as Listen from "./Listen.ts"
import * as Send from "./Send.ts"

Command.make("inlet").pipe(
  Command.withDescription("Inbound email for agents"),
  Command.withSubcommands([Send.command, Listen.command, Domains.command]),
  Command.run({ version }),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain
)
