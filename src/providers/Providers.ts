import { NodeServices } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import * as Settings from "../Settings.ts"
import { RawStore } from "./RawStore.ts"
import * as Resolver from "./Resolver.ts"

// The one file that knows every vendor. Each seam is chosen by its own
// setting, and the default needs no account anywhere.

const rawStore = Layer.unwrap(
  Effect.gen(function* () {
    const { folder } = yield* Settings.rawStore
    return RawStore.layerFile(folder)
  })
).pipe(Layer.provide(NodeServices.layer))

export const layer = Layer.merge(rawStore, Resolver.layer)
