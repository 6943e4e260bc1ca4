import { type Signal, useSignal } from "@preact/signals"
import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from "@tanstack/virtual-core"
import { useEffect, useLayoutEffect, useRef } from "preact/hooks"
import type { EventPages } from "./EventPages.ts"
import { EventRow, rowHeight } from "./EventRow.tsx"

/** Rows before the end of what is known at which the next page loads. */
const ahead = 30

/** The mails of the inbox. Renders only the rows in view. */
export const EventList = ({
  atTop,
  hrefOf,
  pages,
  selected
}: {
  readonly pages: EventPages
  readonly selected: string | undefined
  readonly hrefOf: (eventId: string) => string
  /** True while the top of the list is in view. */
  readonly atTop: Signal<boolean>
}) => {
  const box = useRef<HTMLDivElement>(null)
  const drawn = useSignal(0)
  const virtualizer = useRef<Virtualizer<HTMLDivElement, HTMLDivElement>>(undefined)
  const { length } = pages
  // Reading the signals draws the list anew when they change.
  void pages.version.value
  void drawn.value

  const options = {
    count: length,
    getScrollElement: () => box.current,
    estimateSize: () => rowHeight,
    overscan: 8,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: (instance: Virtualizer<HTMLDivElement, HTMLDivElement>) => {
      atTop.value = (instance.scrollOffset ?? 0) < rowHeight
      drawn.value++
    }
  }
  virtualizer.current ??= new Virtualizer(options)
  const list = virtualizer.current
  list.setOptions(options)

  useEffect(() => list._didMount(), [list])
  useLayoutEffect(() => list._willUpdate())

  const items = list.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    pages.keepNear(last)
    if (pages.hasMore && pages.isLoaded && last >= length - ahead) void pages.more()
  }, [pages, last, length])

  // Only another selection scrolls, not new mail above the selected one.
  useEffect(() => {
    const index = selected === undefined ? -1 : pages.indexOf(selected)
    if (index >= 0) list.scrollToIndex(index, { align: "auto" })
  }, [list, selected])

  return (
    <div ref={box} class="rows" tabIndex={0}>
      <ol class="rows-inner" aria-label="Mails, newest first" style={{ height: `${list.getTotalSize()}px` }}>
        {items.map(({ index, start }) => {
          const event = pages.at(index)
          return (
            <EventRow
              key={event?.event_id ?? `place-${index}`}
              event={event}
              top={start}
              isSelected={event !== undefined && event.event_id === selected}
              href={event === undefined ? "" : hrefOf(event.event_id)}
            />
          )
        })}
      </ol>
    </div>
  )
}
