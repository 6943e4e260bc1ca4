import { Config, Duration, Schema } from "effect"
import { inProduction, production } from "./ProcessSettings.ts"
import * as Setting from "./Setting.ts"
import { AddressRange, Count, commaSeparated, Flag, spanFrom } from "./SettingText.ts"

const { section, setting } = Setting.section("Deliveries")

export { section }

const webhookTimeout = setting(
  "WEBHOOK_TIMEOUT",
  spanFrom("1ms", "1h"),
  Duration.seconds(15),
  "longest webhook request. Raise it for webhooks that answer after their work",
  "`15s`"
)

const retryDelay = spanFrom("0ms", "365d")

const retryDelays = setting(
  "WEBHOOK_RETRY_DELAYS",
  commaSeparated(retryDelay).check(Schema.isMinLength(1)),
  ["5s", "1m", "5m", "30m", "2h", "5h", "10h", "14h", "20h", "24h"].map((text) => Schema.decodeSync(retryDelay)(text)),
  "delays between the attempts of a delivery. After the last attempt it is dead. Change it to match the outages that your webhooks may have",
  "`5s,1m,5m,30m,2h,5h,10h,14h,20h,24h`"
)

const deliveryConcurrency = setting(
  "DELIVERY_CONCURRENCY",
  Count,
  256,
  "webhook requests at a time in one process. Raise it if webhooks are slow and the machine is idle"
)

const deliveryConcurrencyPerWebhook = setting(
  "DELIVERY_CONCURRENCY_PER_WEBHOOK",
  Count,
  16,
  "concurrent requests to one webhook per process. Lower it for webhooks that take less"
)

const allowPrivateWebhooks = setting(
  "ALLOW_PRIVATE_WEBHOOKS",
  Flag,
  inProduction(Config.succeed(false), Config.succeed(true)),
  "allows webhooks at private, loopback and other special addresses. Allow it if only you create workspaces",
  "`true` (`false` in production)"
)

const webhookAllow = setting(
  "WEBHOOK_ALLOW",
  commaSeparated(AddressRange),
  [],
  "private or denied addresses that webhooks may reach, as comma-separated CIDRs",
  "none"
)

const webhookDeny = setting(
  "WEBHOOK_DENY",
  commaSeparated(AddressRange),
  [],
  "addresses that webhooks must not reach, as comma-separated CIDRs",
  "none"
)

export const webhooks = Config.all({
  production,
  timeout: webhookTimeout,
  retryDelays,
  concurrency: deliveryConcurrency,
  concurrencyPerWebhook: deliveryConcurrencyPerWebhook
})

/** The addresses that webhook requests may reach. Allowed ones take precedence over denied ones. */
export const egress = Config.all({ allowPrivate: allowPrivateWebhooks, allow: webhookAllow, deny: webhookDeny })
