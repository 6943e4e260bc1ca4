import type { ComponentChildren } from "preact"

export interface Tab<Id extends string> {
  readonly id: Id
  readonly name: string
  readonly isDisabled?: boolean
}

/** Tabs with arrow keys (WAI-ARIA, tabs pattern). */
export const Tabs = <Id extends string>({
  children,
  label,
  onSelect,
  selected,
  tabs
}: {
  readonly label: string
  readonly tabs: ReadonlyArray<Tab<Id>>
  readonly selected: Id
  readonly onSelect: (id: Id) => void
  readonly children: ComponentChildren
}) => {
  const usable = tabs.filter(({ isDisabled }) => isDisabled !== true)
  const onKeyDown = (event: KeyboardEvent) => {
    const from = usable.findIndex(({ id }) => id === selected)
    const last = usable.length - 1
    const to = { ArrowRight: from + 1, ArrowLeft: from + last, Home: 0, End: last }[event.key]
    const next = to === undefined ? undefined : usable[to % usable.length]
    if (next === undefined) return
    event.preventDefault()
    onSelect(next.id)
    document.getElementById(`tab-${next.id}`)?.focus()
  }
  return (
    <>
      <div class="tabs" role="tablist" aria-label={label} onKeyDown={onKeyDown}>
        {tabs.map(({ id, isDisabled, name }) => (
          <button
            key={id}
            type="button"
            role="tab"
            id={`tab-${id}`}
            aria-controls="tab-panel"
            aria-selected={id === selected}
            tabIndex={id === selected ? 0 : -1}
            disabled={isDisabled === true}
            onClick={() => onSelect(id)}
          >
            {name}
          </button>
        ))}
      </div>
      <div role="tabpanel" id="tab-panel" aria-labelledby={`tab-${selected}`} tabIndex={0}>
        {children}
      </div>
    </>
  )
}
