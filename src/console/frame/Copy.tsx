import { useSignal } from "@preact/signals"
import { announce } from "./Announcer.ts"
import * as Clipboard from "./Clipboard.ts"

/** A button that copies a text. */
export const CopyButton = ({ label = "Copy", text, what }: { text: string; what: string; label?: string }) => {
  const done = useSignal(false)
  const copy = async () => {
    await Clipboard.copy(text)
    announce(`${what} copied`)
    done.value = true
    setTimeout(() => {
      done.value = false
    }, 1_500)
  }
  return (
    <button type="button" class="small" aria-label={`Copy ${what}`} onClick={() => void copy()}>
      {done.value ? "Copied" : label}
    </button>
  )
}

/** A value in one line, with its copy button. */
export const CopyLine = ({ text, what }: { text: string; what: string }) => (
  <div class="copy-line">
    <code>{text}</code>
    <CopyButton text={text} what={what} />
  </div>
)

/** Text in several lines, with its copy button. */
export const CopyBlock = ({ text, what }: { text: string; what: string }) => (
  <div class="code">
    <pre tabIndex={0}>
      <code>{text}</code>
    </pre>
    <CopyButton text={text} what={what} />
  </div>
)
