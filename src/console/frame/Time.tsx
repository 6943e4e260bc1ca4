import { signal } from "@preact/signals"

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" })
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto", style: "narrow" })

/** The time that relative dates are told from. Moves once in 30 seconds. */
const now = signal(Date.now())
setInterval(() => {
  if (!document.hidden) now.value = Date.now()
}, 30_000)

const units = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000]
] as const

const wordsOf = (millis: number): string => {
  for (const [unit, length] of units) {
    if (Math.abs(millis) >= length) return relative.format(Math.trunc(millis / length), unit)
  }
  return Math.abs(millis) < 10_000 ? "now" : relative.format(Math.trunc(millis / 1_000), "second")
}

/** A time told from now, with the exact one on hover. */
export const Time = ({ at }: { readonly at: string }) => {
  const date = new Date(at)
  return (
    <time dateTime={at} title={exact.format(date)}>
      {wordsOf(date.getTime() - Math.max(now.value, Math.min(Date.now(), now.value + 30_000)))}
    </time>
  )
}

/** The exact time. */
export const ExactTime = ({ at }: { readonly at: string }) => <time dateTime={at}>{exact.format(new Date(at))}</time>
