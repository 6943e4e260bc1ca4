import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { useAction } from "./Action.ts"
import { Confirm } from "./Dialog.tsx"

/** A button whose work a person confirms. The dialog stays open while the work runs and if it fails. */
export const ConfirmedButton = ({
  ariaLabel,
  children,
  isSmall = false,
  label,
  title,
  verb,
  work
}: {
  readonly label: string
  readonly ariaLabel?: string
  readonly isSmall?: boolean
  /** The question. */
  readonly title: string
  /** On the button that starts the work. */
  readonly verb: string
  readonly work: () => Promise<unknown>
  /** What the work does. */
  readonly children: ComponentChildren
}) => {
  const { error, isRunning, run } = useAction()
  const isAsking = useSignal(false)
  const close = () => {
    isAsking.value = false
  }
  return (
    <>
      <button
        type="button"
        class={isSmall ? "small" : undefined}
        aria-label={ariaLabel}
        onClick={() => {
          error.value = undefined
          isAsking.value = true
        }}
      >
        {label}
      </button>
      {isAsking.value && (
        <Confirm
          title={title}
          verb={verb}
          isRunning={isRunning.value}
          error={error.value}
          onConfirm={() =>
            void run(async () => {
              await work()
              close()
            })
          }
          onClose={close}
        >
          <p>{children}</p>
        </Confirm>
      )}
    </>
  )
}
