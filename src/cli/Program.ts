import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import * as Settings from "../Settings.ts"
import { version } from "../Version.ts"
import * as Admin from "./Admin.ts"
import * as Attempts from "./Attempts.ts"
import { CommandFailed } from "./CommandFailed.ts"
import * as Doctor from "./Doctor.ts"
import * as Domains from "./Domains.ts"
import * as Events from "./Events.ts"
import * as Inboxes from "./Inboxes.ts"
import * as Keys from "./Keys.ts"
import * as Listen from "./Listen.ts"
import * as Mcp from "./Mcp.ts"
import * as Orders from "./Orders.ts"
import * as Profiles from "./Profiles.ts"
import * as Purchase from "./Purchase.ts"
import * as Raw from "./Raw.ts"
import * as Replay from "./Replay.ts"
import * as Search from "./Search.ts"
import * as Send from "./Send.ts"
import * as Simulate from "./Simulate.ts"
import * as Start from "./Start.ts"
import * as Wait from "./Wait.ts"
import * as Wallet from "./Wallet.ts"
import * as Workspaces from "./Workspaces.ts"

/** Runs the command that the arguments of the process name. */
export const program = Command.make("inlet").pipe(
  Command.withDescription("Inbound email for agents"),
  Command.withSubcommands([
    Start.command,
    Doctor.command,
    Send.command,
    Simulate.command,
    Listen.command,
    Wait.command,
    Mcp.command,
    Workspaces.command,
    Keys.command,
    Inboxes.command,
    Domains.command,
    Events.command,
    Raw.command,
    Attempts.command,
    Replay.command,
    Search.command,
    Purchase.command,
    Orders.command,
    Wallet.command,
    Profiles.command,
    Admin.command
  ]),
  Command.run({ version }),
  Effect.catchTag("ConfigError", (error) => Effect.fail(new CommandFailed({ message: Settings.explain(error) }))),
  Effect.tapErrorTag("CommandFailed", ({ message }) => Console.error(message))
)
