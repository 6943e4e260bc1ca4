#!/usr/bin/env node
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import * as Settings from "../Settings.ts"
import { version } from "../Version.ts"
import { CommandFailed } from "./CommandFailed.ts"
import * as Domains from "./Domains.ts"
import * as Listen from "./Listen.ts"
import * as Raw from "./Raw.ts"
import * as Send from "./Send.ts"

Command.make("inlet").pipe(
  Command.withDescription("Inbound email for agents"),
  Command.withSubcommands([Send.command, Listen.command, Raw.command, Domains.command]),
  Command.run({ version }),
  Effect.catchTag("ConfigError", (error) => Effect.fail(new CommandFailed({ message: Settings.explain(error) }))),
  Effect.tapErrorTag("CommandFailed", ({ message }) => Console.error(message)),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain
)
