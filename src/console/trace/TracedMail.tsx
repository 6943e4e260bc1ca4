import type { TraceEntry, TraceStep } from "../api/Contract.ts"
import { Message } from "../frame/Message.tsx"
import { Tag, type Tone } from "../frame/Tag.tsx"
import { ExactTime, Time } from "../frame/Time.tsx"

const tones: Record<TraceEntry["outcome"], Tone> = {
  refused: "bad",
  stored: "wait",
  pending: "wait",
  retrying: "bad",
  paused: "bad",
  held: "plain",
  waiting: "wait",
  dead: "bad",
  delivered: "good"
}

const words: Record<TraceEntry["outcome"], string> = {
  refused: "Refused",
  stored: "Not parsed yet",
  pending: "On its way",
  retrying: "Failing",
  paused: "Webhook paused",
  held: "Held",
  waiting: "Waits for a lease",
  dead: "Dead letter",
  delivered: "Delivered"
}

/** A mail with what became of it: the outcome, and each step when it is open. Its workspace can open the mail itself. */
export const TracedMail = ({
  entry,
  isOpen,
  isOwn
}: {
  readonly entry: TraceEntry
  readonly isOpen: boolean
  readonly isOwn: boolean
}) => {
  const { at, author, domain_id, event_id, from, outcome, recipient, remedy, steps, subject, summary } = entry
  return (
    <details class="card traced" open={isOpen}>
      <summary>
        <Tag tone={tones[outcome]}>{words[outcome]}</Tag>{" "}
        <b>{author ?? (from === null || from === "" ? "no sender" : from)}</b> → {recipient ?? "several recipients"}{" "}
        {subject !== null && <span class="soft">{subject} </span>}
        <Time at={at} />
      </summary>
      <p>
        <Message text={summary} />
      </p>
      {remedy !== null && (
        <p class="problem">
          <Message text={remedy} />
        </p>
      )}
      <ol class="timeline" aria-label="Steps">
        {steps.map((step, index) => (
          <Step key={index} step={step} isSaid={remedy === step.remedy} />
        ))}
      </ol>
      {event_id !== null && isOwn && (
        <div class="actions">
          <a class="button" href={`/console/d/${domain_id}/mail/${event_id}`}>
            Open the mail
          </a>
        </div>
      )}
    </details>
  )
}

const titles: Record<TraceStep["step"], string> = {
  session: "Session",
  recipient: "Recipient",
  refused: "Refused",
  stored: "Stored",
  read: "Parsed",
  scan: "Scanned",
  route: "Route",
  event: "Event",
  attempt: "Attempt",
  state: "State"
}

const Step = ({
  isSaid,
  step: { at, ok, remedy, step, text }
}: {
  readonly step: TraceStep
  /** The mail's own remedy is the same. */
  readonly isSaid: boolean
}) => (
  <li class="attempt">
    <p>
      <Tag tone={ok ? "good" : "bad"}>{titles[step]}</Tag> <Message text={text} />
      {at !== null && (
        <span class="soft">
          {" "}
          <ExactTime at={at} />
        </span>
      )}
    </p>
    {remedy !== null && !isSaid && (
      <p class="attempt-error">
        <Message text={remedy} />
      </p>
    )}
  </li>
)
