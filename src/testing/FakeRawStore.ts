import { Context, Effect, Layer, Stream } from "effect"
import { RawStore } from "../providers/storage/RawStore.ts"
import { failed, missing } from "../providers/storage/RawStoreError.ts"
import * as Mood from "./Mood.ts"

const calls = ["put", "get", "writable", "remove", "removeDomain", "olderThan"] as const

export interface FakeRawStore extends Mood.Moody<(typeof calls)[number]> {
  /** For `rawStore` of `TestInlet.layer`. */
  readonly layer: Layer.Layer<RawStore>
}

/**
 * Raw messages in memory. `fail` simulates a full disk: mail is answered `451`, and `…/raw` with `503`. `refuse`
 * simulates lost messages: `…/raw` is `404`. With `hang` mail is answered `451` after 8 s.
 */
export const make = (): FakeRawStore => {
  const { under, will } = Mood.make(calls)
  const full = Effect.fail(failed(new Error("The fake raw store is full")))
  const layer = Layer.effect(
    RawStore,
    Effect.gen(function* () {
      const store = Context.get(yield* Layer.build(Layer.fresh(RawStore.layerMemory)), RawStore)
      return RawStore.of({
        ...store,
        put: (ref, message) => store.put(ref, message).pipe(under("put", { refuse: full, fail: full })),
        get: (ref, place) => store.get(ref, place).pipe(under("get", { refuse: Effect.fail(missing()), fail: full })),
        writable: store.writable.pipe(under("writable", { refuse: full, fail: full })),
        remove: (ref) => store.remove(ref).pipe(under("remove", { refuse: full, fail: full })),
        removeDomain: (id) => store.removeDomain(id).pipe(under("removeDomain", { refuse: full, fail: full })),
        olderThan: (time) =>
          Stream.unwrap(Effect.succeed(store.olderThan(time)).pipe(under("olderThan", { refuse: full, fail: full })))
      })
    })
  )
  return { layer, will }
}
