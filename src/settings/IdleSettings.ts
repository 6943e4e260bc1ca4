import { Effect } from "effect"
import * as UnknownSettings from "./UnknownSettings.ts"

/** Settings that count only if another one chooses them. */
const chosen = [
  { by: "RAW_STORE", as: "s3", prefix: "S3_", otherwise: "raw messages go to RAW_DIR" },
  { by: "BILLING_PROVIDER", as: "stripe", prefix: "STRIPE_", otherwise: "domains are paid with play money" },
  { by: "MAIL_SCANNER", as: "rspamd", prefix: "RSPAMD_", otherwise: "mail is not scanned" }
] as const

/** A line for each group of settings without the one that chooses it. A choice that is made says enough. */
export const among = (variables: ReadonlyArray<string>): ReadonlyArray<string> =>
  chosen.flatMap(({ as, by, otherwise, prefix }) => {
    const idle = variables.filter((name) => name.startsWith(prefix)).toSorted()
    return idle.length === 0 || variables.includes(by)
      ? []
      : [`${idle.join(", ")} ${idle.length === 1 ? "is" : "are"} set without ${by}=${as}, so ${otherwise}`]
  })

/** Warns of settings that have no effect. */
export const warn = UnknownSettings.names.pipe(
  Effect.flatMap((names) => Effect.forEach(among(names), (line) => Effect.logWarning(line), { discard: true }))
)
