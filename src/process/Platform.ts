import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Layer } from "effect"

/** The platform services from Node: files, processes and cryptography with randomness. */
export const layer = Layer.mergeAll(NodeServices.layer, NodeCrypto.layer)
