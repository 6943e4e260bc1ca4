import { DateTime } from "effect"
import type { TraceEntry } from "../../trace/TraceEntry.ts"
import { inCommands } from "./InCommands.ts"

const dateOf = (time: DateTime.Utc) => DateTime.formatIso(time).slice(0, 10)
const clockOf = (time: DateTime.Utc) => DateTime.formatIso(time).slice(11, 23)

const blank = " ".repeat("00:00:00.000".length)

/** Identifies an entry of a trace, and changes with what became of it. */
export const stateOf = ({ event_id, inbound_email_id, outcome, refusal_id, steps, summary }: TraceEntry) => ({
  id: event_id ?? inbound_email_id ?? refusal_id ?? "",
  state: `${outcome} ${steps.length} ${summary}`
})

/** An entry as lines: its outcome, then a line a step. A step that went wrong begins with `!`. Its remedy follows, where several
 * steps share one after the last of them. */
export const linesOf = ({
  at,
  author,
  from,
  outcome,
  recipient,
  steps,
  subject
}: TraceEntry): ReadonlyArray<string> => {
  const sender = author ?? (from === null || from === "" ? "(no sender)" : from)
  const title = `${dateOf(at)}  ${outcome.toUpperCase()}  ${sender} → ${recipient ?? "(several)"}`
  return [
    subject === null ? title : `${title}  ${subject}`,
    ...steps.flatMap(({ at: time, ok, remedy, text }, index) => {
      const line = `${ok ? " " : "!"} ${time === null ? blank : clockOf(time)}  ${inCommands(text)}`
      const isSaidLater = steps.slice(index + 1).some((later) => later.remedy === remedy)
      return remedy === null || isSaidLater ? [line] : [line, `  ${blank}  → ${inCommands(remedy)}`]
    })
  ]
}
