import type { Signal } from "@preact/signals"

interface Props {
  readonly text: Signal<string>
  readonly label?: string
  readonly placeholder?: string
}

/** An input for a part of a name, of a domain's by default. */
export const SearchBox = ({ label = "Domain contains", placeholder = "Search domains", text }: Props) => (
  <input
    type="search"
    class="wide"
    aria-label={label}
    placeholder={placeholder}
    value={text.value}
    onInput={({ currentTarget }) => {
      text.value = currentTarget.value
    }}
  />
)

/** The text as a filter of a list. Without any the list has all. */
export const searchOf = (text: Signal<string>) => text.value.trim().slice(0, 200) || undefined
