import { HttpApiSchema } from "effect/http-api"
import { Damaged, Invalid, NotFound, Unavailable } from "../../model/ApiError.ts"
import { EventId } from "../../model/InboundEvent.ts"
import { ContentQuery, EventContent } from "./ContentQuery.ts"
import * as PageQuery from "./PageQuery.ts"

// The endpoints for one mail, shared by workspaces and demo inboxes.

const one = { eventId: EventId }

/** Returns the raw message as bytes. */
export const raw = {
  params: one,
  success: HttpApiSchema.StreamUint8Array({ contentType: "message/rfc822" }),
  error: [NotFound.http, Unavailable.http, Damaged.http]
} as const

/** Returns the bytes of an attachment. */
export const attachment = {
  params: { ...one, index: PageQuery.between(0, 100_000, "index of the attachment in the event") },
  success: HttpApiSchema.StreamUint8Array(),
  error: [NotFound.http, Unavailable.http, Damaged.http]
} as const

/** Returns a slice of the content. */
export const content = {
  params: one,
  query: ContentQuery,
  success: EventContent,
  error: [Invalid.http, NotFound.http]
} as const
