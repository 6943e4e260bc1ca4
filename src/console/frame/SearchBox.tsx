import type { Signal } from "@preact/signals"

/** An input for a part of a domain's name. */
export const SearchBox = ({ text }: { readonly text: Signal<string> }) => (
  <input
    type="search"
    class="wide"
    aria-label="Domain contains"
    placeholder="Search domains"
    value={text.value}
    onInput={({ currentTarget }) => {
      text.value = currentTarget.value
    }}
  />
)

/** The text as a filter of a list. Without any the list has all. */
export const searchOf = (text: Signal<string>) => text.value.trim().slice(0, 200) || undefined
