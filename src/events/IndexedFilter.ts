import * as Routes from "../webhooks/routes/Routes.ts"
import type { Filter } from "./EventQuery.ts"

/**
 * Whether an index has the filter. Other filters examine a limited number of events. So do `delivered`, which is in no
 * index, and a code combined with a delivery state, because either index alone may lead through very many events.
 */
export const isIndexed = ({
  delivery,
  fromDomain,
  fromPart,
  has,
  kind,
  only,
  recipient,
  recipientPart,
  sender,
  spam,
  subject,
  tag,
  thread,
  trust,
  webhook
}: Filter) =>
  trust !== "held" &&
  delivery !== "delivered" &&
  (only === undefined || (recipient !== undefined && Routes.takes(only, Routes.localPartOf(recipient)))) &&
  [fromDomain, fromPart, kind, recipientPart, sender, spam, subject, tag, thread, webhook].every(
    (filter) => filter === undefined
  ) &&
  (has === undefined || (has === "code" && delivery === undefined))
