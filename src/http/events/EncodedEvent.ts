import { Schema } from "effect"
import * as BriefEvent from "../../events/BriefEvent.ts"
import type { Loaded, LoadedEvent } from "../../events/EventQuery.ts"
import type { WorkspaceEvent } from "../../events/WorkspaceEvents.ts"
import { Delivery } from "../../model/Delivery.ts"

const encodeDelivery = Schema.encodeSync(Schema.fromJsonString(Delivery))

/** An event in a list of its domain, in pieces of JSON. */
export const encodeListed = ({ delivery, payload }: LoadedEvent) => [
  payload.slice(0, -1),
  `,"delivery":${encodeDelivery(delivery)}}`
]

/** The same with `view=brief`. */
export const encodeBrief = ({ delivery, payload }: LoadedEvent) => [BriefEvent.render(payload, delivery.status)]

/** An event in a list of all domains. */
export const encodeListedWithDomain = (event: Loaded<WorkspaceEvent>) => [
  event.payload.slice(0, -1),
  `,"domain_id":"${event.domainId}","delivery":${encodeDelivery(event.delivery)}}`
]

/** The same with `view=brief`. */
export const encodeBriefWithDomain = ({ delivery, domain, domainId, payload }: Loaded<WorkspaceEvent>) => [
  BriefEvent.render(payload, delivery.status).slice(0, -1),
  `,"domain":${JSON.stringify(domain)},"domain_id":"${domainId}"}`
]
