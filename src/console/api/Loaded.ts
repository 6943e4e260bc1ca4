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

/** What failed on this page. */
const failed = new Set<() => Promise<void>>()

/** Loads everything again that failed, because a service that is away fails more than one part of a page. */
export const retryFailed = () => Promise.all([...failed].map((reload) => reload()))

/**
 * Loads data for a component, and again when `key` or `version` changes. Cancels what is under way when the component goes.
 * The last value stays visible when only `version` changes.
 */
export const useLoaded = <A>(
  key: string,
  load: (signal: AbortSignal) => Promise<A>,
  version: string = ""
): Loaded<A> => {
  const value = useSignal<A | undefined>(undefined)
  const error = useSignal<string | undefined>(undefined)
  const current = useRef<AbortController>(undefined)
  const loadedKey = useRef(key)
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
      failed.delete(reload)
    } catch (thrown) {
      if (isAborted(thrown)) return
      error.value = messageOf(thrown)
      failed.add(reload)
    }
  }, [value, error])

  useEffect(() => {
    if (loadedKey.current !== key) value.value = undefined
    loadedKey.current = key
    void reload()
    return () => {
      current.current?.abort()
      failed.delete(reload)
    }
  }, [key, version])

  return { value, error, reload }
}
