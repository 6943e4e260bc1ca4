import { useEffect, useRef } from "preact/hooks"
import type { FilterName, Filters } from "./Filters.ts"

const choices = {
  delivery: [
    ["", "Any delivery"],
    ["pending", "Pending"],
    ["delivered", "Delivered"],
    ["dead", "Dead"],
    ["held", "Held"]
  ],
  has: [
    ["", "With anything"],
    ["code", "With a code"],
    ["link", "With a link"],
    ["attachment", "With an attachment"]
  ],
  kind: [
    ["", "Any kind of mail"],
    ["person", "From a person"],
    ["auto_reply", "Automatic reply"],
    ["bounce", "Bounce"],
    ["list", "Mailing list"],
    ["bulk", "Newsletter or notice"],
    ["calendar", "Calendar"],
    ["dmarc_report", "DMARC report"],
    ["tls_report", "TLS report"]
  ],
  spam: [
    ["", "Any scan result"],
    ["clean", "Clean"],
    ["spam", "Spam"],
    ["virus", "Virus"],
    ["unknown", "Not scanned"]
  ],
  newerThan: [
    ["", "Any time"],
    ["5m", "Last 5 minutes"],
    ["1h", "Last hour"],
    ["1d", "Last day"],
    ["7d", "Last 7 days"]
  ]
} as const

const labels = { delivery: "Delivery", has: "Content", kind: "Kind", spam: "Mail scanner", newerThan: "Time" } as const

const textFilters = ["subject", "from", "recipient"] as const
type TextFilter = (typeof textFilters)[number]

const nameOf = ({ name }: HTMLInputElement) => textFilters.find((one) => one === name)

/** The search and filters of the inbox. Every change goes to the address. */
export const FilterBar = ({
  filters,
  onChange
}: {
  readonly filters: Filters
  readonly onChange: (name: FilterName, value: string) => void
}) => {
  const bar = useRef<HTMLElement>(null)
  const timers = useRef(new Map<TextFilter, ReturnType<typeof setTimeout>>())
  // The filters may have changed by the time that a field is read.
  const change = useRef(onChange)
  change.current = onChange
  useEffect(() => {
    const { current } = timers
    return () => {
      for (const timer of current.values()) clearTimeout(timer)
    }
  }, [])

  // A link or the history changes filters, too. A field keeps what is being typed into it.
  useEffect(() => {
    for (const field of bar.current?.querySelectorAll("input") ?? []) {
      const name = nameOf(field)
      if (name !== undefined && !timers.current.has(name) && field !== document.activeElement)
        field.value = filters[name] ?? ""
    }
  }, [filters])

  const typed = (name: TextFilter) => (event: { readonly currentTarget: HTMLInputElement }) => {
    const { value } = event.currentTarget
    clearTimeout(timers.current.get(name))
    timers.current.set(
      name,
      setTimeout(() => {
        timers.current.delete(name)
        change.current(name, value.trim())
      }, 250)
    )
  }
  return (
    <search class="filters" ref={bar}>
      <input
        type="search"
        id="search"
        name="subject"
        aria-label="Subject contains"
        placeholder="Search subjects  /"
        maxLength={200}
        defaultValue={filters.subject ?? ""}
        onInput={typed("subject")}
      />
      <details class="more-filters" open={Object.keys(filters).some((name) => name !== "subject")}>
        <summary>Filters</summary>
        <div class="filter-fields">
          <input
            type="search"
            name="from"
            aria-label="From address"
            placeholder="From address"
            maxLength={200}
            defaultValue={filters.from ?? ""}
            onInput={typed("from")}
          />
          <input
            type="search"
            name="recipient"
            aria-label="To address"
            placeholder="To address"
            maxLength={200}
            defaultValue={filters.recipient ?? ""}
            onInput={typed("recipient")}
          />
          {(["delivery", "has", "kind", "spam", "newerThan"] as const).map((name) => (
            <select
              key={name}
              aria-label={labels[name]}
              value={filters[name] ?? ""}
              onChange={({ currentTarget }) => onChange(name, currentTarget.value)}
            >
              {choices[name].map(([value, words]) => (
                <option key={value} value={value}>
                  {words}
                </option>
              ))}
            </select>
          ))}
        </div>
      </details>
    </search>
  )
}
