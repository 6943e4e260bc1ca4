import { Layer } from "effect"
import * as MxWatch from "./MxWatch.ts"
import * as OperationalDeliveries from "./OperationalDeliveries.ts"
import * as Recorder from "./Recorder.ts"

/** Records operational events, and sends them, while the process runs. */
export const layer = Layer.mergeAll(Recorder.layer, MxWatch.layer, OperationalDeliveries.layer)
