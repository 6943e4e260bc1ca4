import { useEffect } from "preact/hooks"
import { call } from "../api/Api.ts"
import { useLoaded } from "../api/Loaded.ts"
import { number } from "./Figures.ts"
import { Time } from "./Time.tsx"

/** The share of the messages of a day from which the notice is shown. */
const shownFrom = 0.8

const lookMillis = 120_000

/** Tells on every page that the messages of the day are almost or all used. */
export const QuotaNotice = ({ workspaceId }: { readonly workspaceId: string }) => {
  const loaded = useLoaded(workspaceId, (signal) => call("GET /api/workspace", { signal }))
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) void loaded.reload()
    }, lookMillis)
    return () => clearInterval(timer)
  }, [loaded.reload])

  const { day_ends_at, limits, used } = loaded.value.value ?? {}
  const limit = limits?.emails_per_day ?? null
  if (day_ends_at === undefined || limit === null || used === undefined || used.emails_today < limit * shownFrom) {
    return null
  }
  const isFull = used.emails_today >= limit
  return (
    <p class="notice" data-full={isFull} role="status">
      {isFull
        ? `All ${number(limit)} messages of today are used. Inlet answers further mail with 452, and senders retry.`
        : `${number(used.emails_today)} of ${number(limit)} messages of today are used. Beyond them Inlet answers 452, and senders retry.`}{" "}
      The day ends <Time at={day_ends_at} />. <a href="/console/keys">Show the limits</a>
    </p>
  )
}
