import { Config, Schema } from "effect"
import { trustProxy } from "./ApiSettings.ts"
import { messageBytes } from "./MailSettings.ts"
import { production } from "./ProcessSettings.ts"
import * as Setting from "./Setting.ts"
import { Days, Limit } from "./SettingText.ts"

const { section, setting } = Setting.section("Limits")

export { section }

const domainsPerWorkspace = setting(
  "MAX_DOMAINS_PER_WORKSPACE",
  Limit,
  1,
  "domains of a workspace, without its instant inbox, `0` for no limit. Raise it for customers with several names"
)

const emailsPerDay = setting(
  "MAX_EMAILS_PER_DAY",
  Limit,
  100,
  "messages for a workspace per UTC day, `0` for no limit. Raise it to what a customer may receive"
)

const emailsPerSender = setting(
  "MAX_EMAILS_PER_SENDER_PER_DAY",
  Limit,
  0,
  "messages from one client address (IPv6: /64) per UTC day, `0` for no limit. Set it if single senders flood your customers"
)

const retentionDays = setting(
  "RETENTION_DAYS",
  Days,
  14,
  "days until messages, events and attempts are deleted, `0` for never. Lower it to use less disk space"
)

const workspacesPerAddress = setting(
  "WORKSPACES_PER_IP_PER_DAY",
  Limit,
  3,
  "new workspaces and new demo inboxes per client address and UTC day in production, `0` for no limit. Raise it if many of your users share one address"
)

const workspaceCreation = setting(
  "WORKSPACE_CREATION",
  Schema.Literals(["open", "admin"]).annotate({ message: "Expected open or admin" }),
  "open",
  "`open` lets everyone create workspaces and demo inboxes. `admin` lets only the operator create workspaces, and turns demo inboxes off. Set it if the service is not public"
)

const replaysPerMinute = setting(
  "REPLAYS_PER_MINUTE",
  Limit,
  60,
  "replays of a workspace per minute and process, `0` for no limit. Raise it for a repair after a long outage"
)

const replaysPerDay = setting(
  "REPLAYS_PER_DAY",
  Limit,
  2_000,
  "replays of a workspace in a UTC day, `0` for no limit. Raise it for a repair after a long outage"
)

const webhookChangesPerMinute = setting(
  "WEBHOOK_CHANGES_PER_MINUTE",
  Limit,
  10,
  "webhook changes of a workspace per minute and process, `0` for no limit. Raise it for tests that set many webhooks"
)

const webhookChangesPerDay = setting(
  "WEBHOOK_CHANGES_PER_DAY",
  Limit,
  100,
  "webhook changes of a workspace per UTC day, `0` for no limit. Raise it for tests that set many webhooks"
)

const answersPerHour = setting(
  "MAX_ANSWERS_PER_HOUR",
  Limit,
  100,
  "replies, automatic replies and bounces from one author to one address per hour and process, `0` for no limit. Inlet holds further ones as a mail loop. Lower it for agents that answer mail"
)

export const limits = Config.all({ domainsPerWorkspace, emailsPerDay, emailsPerSender, messageBytes, retentionDays })

/** Identification of API clients, and their daily limits. Zero is no limit. */
export const clients = Config.all({
  trustProxy,
  workspaceCreation,
  workspacesPerDay: Config.map(Config.all([production, workspacesPerAddress]), ([yes, most]) => (yes ? most : 0))
})

/** When answers of an author are a mail loop. */
export const loops = Config.all({ answersPerHour })

/** Limits of replays and webhook changes of a workspace. */
export const actions = Config.all({
  replays: Config.all({ perMinute: replaysPerMinute, perDay: replaysPerDay }),
  webhookChanges: Config.all({ perMinute: webhookChangesPerMinute, perDay: webhookChangesPerDay })
})
