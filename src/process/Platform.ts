import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Layer } from "effect"

/** What the service takes from Node: files, processes, and all of its cryptography, randomness included. */
export const layer = Layer.mergeAll(NodeServices.layer, NodeCrypto.layer)
