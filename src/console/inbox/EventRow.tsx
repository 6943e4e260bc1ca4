import type { BriefEvent } from "../api/Contract.ts"
import { DeliveryTag, SpamTag } from "../frame/Tag.tsx"
import { Time } from "../frame/Time.tsx"

export const rowHeight = 68

/** One mail in the list. */
export const EventRow = ({
  event,
  href,
  isSelected,
  top
}: {
  readonly event: BriefEvent | undefined
  readonly href: string
  readonly isSelected: boolean
  readonly top: number
}) => (
  <li class="row" style={{ transform: `translateY(${top}px)` }}>
    {event === undefined ? (
      <span class="row-empty" />
    ) : (
      <a href={href} aria-current={isSelected ? "true" : undefined} data-event={event.event_id}>
        <span class="row-from">
          <bdi>{event.fromName || event.from || "(no sender)"}</bdi>
        </span>
        <span class="row-time">
          <Time at={event.receivedAt} />
        </span>
        <span class="row-subject">
          <bdi>{event.subject || "(no subject)"}</bdi>
        </span>
        <span class="row-to">
          <bdi>{event.recipient}</bdi>
        </span>
        <span class="row-marks">
          {event.extracted?.code != null && (
            <span>
              <code class="row-code">{event.extracted.code.value}</code>
              {event.extracted.code.confidence === "low" && <span class="soft"> a guess</span>}
            </span>
          )}
          {event.attachments > 0 && (
            <span class="soft" title={`${event.attachments} attachments`}>
              <Clip /> {event.attachments}
              <span class="visually-hidden"> attachments</span>
            </span>
          )}
          {(event.spam === "spam" || event.spam === "virus") && <SpamTag verdict={event.spam} />}
          {event.delivery !== "delivered" && <DeliveryTag status={event.delivery} />}
        </span>
      </a>
    )}
  </li>
)

const Clip = () => (
  <svg class="clip" viewBox="0 0 16 16" aria-hidden="true">
    <path d="M11 5 6 10a1.5 1.5 0 0 0 2 2l5-5a3 3 0 0 0-4-4L4 8a4.5 4.5 0 0 0 6 6l4-4" />
  </svg>
)
