import type { ComponentChildren } from "preact"

/** The tone of a state. A mark shows it too, because color alone is not visible to everybody. */
export type Tone = "good" | "bad" | "wait" | "plain"

const marks: Record<Tone, string> = { good: "✓", bad: "✕", wait: "◌", plain: "•" }

export const Tag = ({ children, tone }: { readonly tone: Tone; readonly children: ComponentChildren }) => (
  <span class={`tag ${tone}`}>
    <span aria-hidden="true">{marks[tone]}</span> {children}
  </span>
)

const deliveries = { delivered: "good", dead: "bad", pending: "wait", held: "plain" } as const

/** The status of a delivery. */
export const DeliveryTag = ({ status }: { readonly status: keyof typeof deliveries }) => (
  <Tag tone={deliveries[status]}>{status}</Tag>
)

const spams = { clean: "good", spam: "bad", virus: "bad", unknown: "wait" } as const
const spamWords = { clean: "clean", spam: "spam", virus: "virus", unknown: "not scanned" } as const

/** The verdict of the mail scanner. */
export const SpamTag = ({ verdict }: { readonly verdict: keyof typeof spams }) => (
  <Tag tone={spams[verdict]}>{spamWords[verdict]}</Tag>
)
