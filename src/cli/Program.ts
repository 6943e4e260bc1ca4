import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import * as Settings from "../Settings.ts"
import { version } from "../Version.ts"
import * as Admin from "./commands/Admin.ts"
import * as Attempts from "./commands/Attempts.ts"
import * as Bridge from "./commands/Bridge.ts"
import * as ConsoleLink from "./commands/ConsoleLink.ts"
import * as Doctor from "./commands/Doctor.ts"
import * as Domains from "./commands/Domains.ts"
import * as Events from "./commands/Events.ts"
import * as Inboxes from "./commands/Inboxes.ts"
import * as Keys from "./commands/Keys.ts"
import * as Mcp from "./commands/Mcp.ts"
import * as Orders from "./commands/Orders.ts"
import * as Purchase from "./commands/Purchase.ts"
import * as Raw from "./commands/Raw.ts"
import * as Replay from "./commands/Replay.ts"
import * as Replays from "./commands/Replays.ts"
import * as Search from "./commands/Search.ts"
import * as Send from "./commands/Send.ts"
import * as Senders from "./commands/Senders.ts"
import * as Simulate from "./commands/Simulate.ts"
import * as Start from "./commands/Start.ts"
import * as Trace from "./commands/Trace.ts"
import * as Wait from "./commands/Wait.ts"
import * as Wallet from "./commands/Wallet.ts"
import * as Webhooks from "./commands/Webhooks.ts"
import * as Workspaces from "./commands/Workspaces.ts"
import * as Listen from "./listen/Listen.ts"
import { CommandFailed } from "./terminal/CommandFailed.ts"
import * as Profiles from "./terminal/Profiles.ts"
import * as UsageErrors from "./terminal/UsageErrors.ts"

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
    ConsoleLink.command,
    Workspaces.command,
    Keys.command,
    Bridge.command,
    Inboxes.command,
    Domains.command,
    Webhooks.command,
    Senders.command,
    Events.command,
    Raw.command,
    Attempts.command,
    Trace.command,
    Replay.command,
    Replays.command,
    Search.command,
    Purchase.command,
    Orders.command,
    Wallet.command,
    Profiles.command,
    Admin.command
  ]),
  Command.run({ version }),
  Effect.provide(UsageErrors.layer),
  Effect.catchTag("ConfigError", (error) => Effect.fail(new CommandFailed({ message: Settings.explain(error) }))),
  Effect.tapErrorTag("CommandFailed", ({ message }) => Console.error(message))
)
