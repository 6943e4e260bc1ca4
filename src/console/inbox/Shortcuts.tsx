import { useSignal } from "@preact/signals"
import { useLayoutEffect } from "preact/hooks"
import { Dialog } from "../frame/Dialog.tsx"

const keys = [
  ["j", "next mail"],
  ["k", "previous mail"],
  ["Enter", "go into the mail"],
  ["Esc", "back to the list"],
  ["/", "search"],
  ["?", "show these keys"]
] as const

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement && /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)

/** The keys of the inbox. */
export const Shortcuts = ({
  onMove,
  onEnter,
  onLeave
}: {
  readonly onMove: (by: 1 | -1) => void
  readonly onEnter: () => void
  readonly onLeave: () => void
}) => {
  const isShown = useSignal(false)
  // With the page itself: a key that comes before an effect would act on the mail that was open before.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return
      if (isTyping(event.target)) {
        if (event.key === "Escape" && event.target instanceof HTMLElement) {
          // A browser would empty a search field, and tell nobody.
          event.preventDefault()
          event.target.blur()
        }
        return
      }
      if (document.querySelector("dialog[open]") !== null) return
      if (event.key === "j") onMove(1)
      else if (event.key === "k") onMove(-1)
      else if (event.key === "/") {
        event.preventDefault()
        document.getElementById("search")?.focus()
      } else if (event.key === "?") isShown.value = true
      else if (event.key === "Escape") onLeave()
      else if (event.key === "Enter" && (event.target === document.body || event.target instanceof HTMLDivElement)) {
        onEnter()
      }
    }
    document.addEventListener("keydown", onKey)
    return () => document.removeEventListener("keydown", onKey)
  }, [onMove, onEnter, onLeave, isShown])

  if (!isShown.value) return null
  return (
    <Dialog
      title="Keys"
      onClose={() => {
        isShown.value = false
      }}
    >
      <dl class="facts">
        {keys.map(([key, meaning]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
