import { Argument, Flag } from "effect/cli"
import { EventId } from "../../model/InboundEvent.ts"

export const eventId = Argument.String("event_id").pipe(
  Argument.withDescription("event_id, from a webhook or an event list"),
  Argument.withSchema(EventId)
)

export const domain = Flag.String("domain").pipe(
  Flag.withDescription("Name or id of the domain, default the only one"),
  Flag.optional
)

export const limit = Flag.Int("limit").pipe(
  Flag.withDescription("Maximum number, 1 to 100"),
  Flag.filter(
    (limit) => limit >= 1 && limit <= 100,
    () => "a number from 1 to 100"
  ),
  Flag.optional
)

export const cursor = Flag.String("cursor").pipe(
  Flag.withDescription("next_cursor of the previous page"),
  Flag.optional
)
