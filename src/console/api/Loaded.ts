import { type Signal, useSignal } from "@preact/signals"
import { useCallback, useEffect, useRef } from "preact/hooks"
import { isAborted, messageOf } from "./Api.ts"

/** Data of a component. The last value stays visible while the next one loads. */
export interface Loaded<A> {
  readonly value: Signal<A | undefined>
  readonly error: Signal<string | undefined>
  /** Loads again. */
  readonly reload: () => Promise<void>
}

/** Loads data for a component, and again when `key` changes. Cancels what is under way when the component goes. */
export const useLoaded = <A>(key: string, load: (signal: AbortSignal) => Promise<A>): Loaded<A> => {
  const value = useSignal<A | undefined>(undefined)
  const error = useSignal<string | undefined>(undefined)
  const current = useRef<AbortController>(undefined)
  const latest = useRef(load)
  latest.current = load

  const reload = useCallback(async () => {
    current.current?.abort()
    const controller = new AbortController()
    current.current = controller
    try {
      const loaded = await latest.current(controller.signal)
      if (controller.signal.aborted) return
      value.value = loaded
      error.value = undefined
    } catch (thrown) {
      if (!isAborted(thrown)) error.value = messageOf(thrown)
    }
  }, [value, error])

  useEffect(() => {
    value.value = undefined
    void reload()
    return () => current.current?.abort()
  }, [key])

  return { value, error, reload }
}
