import { type Signal, useSignal } from "@preact/signals"
import { useCallback } from "preact/hooks"
import { messageOf } from "../api/Api.ts"
import { announce } from "./Announcer.ts"

export interface Action {
  readonly isRunning: Signal<boolean>
  readonly error: Signal<string | undefined>
  /** Runs what a person asked for. A second click while it runs does nothing. */
  readonly run: (work: () => Promise<unknown>) => Promise<void>
}

/** Runs requests that a person started, one at a time, and keeps the message of a failure. */
export const useAction = (): Action => {
  const isRunning = useSignal(false)
  const error = useSignal<string | undefined>(undefined)
  const run = useCallback(
    async (work: () => Promise<unknown>) => {
      if (isRunning.value) return
      isRunning.value = true
      error.value = undefined
      try {
        await work()
      } catch (thrown) {
        error.value = messageOf(thrown)
        announce(error.value)
      } finally {
        isRunning.value = false
      }
    },
    [isRunning, error]
  )
  return { isRunning, error, run }
}
