import { type Signal, useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { useEffect } from "preact/hooks"
import { useAction } from "./Action.ts"
import { Problem } from "./Dialog.tsx"

/** The entries of a page, and the cursor of the next, null at the end. */
export interface Entries<A> {
  readonly entries: ReadonlyArray<A>
  readonly cursor: string | null
}

/** The entries of a first page, and a button that adds those of older pages. Another first page replaces them all. */
export const useOlder = <P, A>(
  page: P,
  entriesOf: (page: P) => Entries<A>,
  older: (cursor: string) => Promise<P>
): { readonly all: Signal<ReadonlyArray<A>>; readonly button: (words: string) => ComponentChildren } => {
  const first = entriesOf(page)
  const all = useSignal(first.entries)
  const cursor = useSignal(first.cursor)
  const { error, isRunning, run } = useAction()
  useEffect(() => {
    all.value = first.entries
    cursor.value = first.cursor
  }, [page])
  const more = (from: string) =>
    run(async () => {
      const next = entriesOf(await older(from))
      all.value = [...all.value, ...next.entries]
      cursor.value = next.cursor
    })
  const button = (words: string) => {
    const from = cursor.value
    return (
      <>
        <Problem message={error.value} />
        {from !== null && (
          <div class="actions">
            <button type="button" disabled={isRunning.value} onClick={() => void more(from)}>
              {words}
            </button>
          </div>
        )}
      </>
    )
  }
  return { all, button }
}
