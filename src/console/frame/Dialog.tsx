import type { ComponentChildren } from "preact"
import { useEffect, useRef } from "preact/hooks"
import { Message } from "./Message.tsx"

/** A modal dialog. Escape and a click beside it close it. */
export const Dialog = ({
  children,
  onClose,
  title
}: {
  readonly title: string
  readonly children: ComponentChildren
  readonly onClose: () => void
}) => {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    dialog.current?.showModal()
  }, [])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a modal dialog by itself
    <dialog
      ref={dialog}
      aria-labelledby="dialog-title"
      onClose={onClose}
      onClick={(event) => {
        if (event.target === dialog.current) onClose()
      }}
    >
      <div class="dialog-body">
        <h2 id="dialog-title">{title}</h2>
        {children}
      </div>
    </dialog>
  )
}

/** Asks before something that cannot be undone. */
export const Confirm = ({
  children,
  error,
  isRunning,
  onClose,
  onConfirm,
  title,
  verb
}: {
  readonly title: string
  readonly verb: string
  readonly children: ComponentChildren
  readonly isRunning: boolean
  readonly error: string | undefined
  readonly onConfirm: () => void
  readonly onClose: () => void
}) => (
  <Dialog title={title} onClose={onClose}>
    {children}
    <Problem message={error} />
    <div class="actions end">
      <button type="button" onClick={onClose}>
        Cancel
      </button>
      <button type="button" class="primary" disabled={isRunning} onClick={onConfirm}>
        {verb}
      </button>
    </div>
  </Dialog>
)

/** The message of a failure, with a button for another try where there is one. */
export const Problem = ({
  message,
  retry
}: {
  readonly message: string | undefined
  readonly retry?: () => Promise<unknown>
}) =>
  message === undefined ? null : (
    <p class="problem" role="alert">
      <Message text={message} />
      {retry !== undefined && (
        <>
          {" "}
          <button type="button" class="small" onClick={() => void retry()}>
            Retry
          </button>
        </>
      )}
    </p>
  )
