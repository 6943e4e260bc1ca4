import { Cause, Effect, Metric } from "effect"
import * as FailureLog from "../database/FailureLog.ts"
import type { Reply } from "../intake/Reply.ts"
import type { Domain } from "../model/Domain.ts"
import type { Envelope } from "../model/InboundEmail.ts"
import type { RefusalReason } from "../model/Refusal.ts"
import type { WorkspaceId } from "../model/Workspace.ts"
import * as RefusalLines from "../refusals/RefusalLines.ts"
import { RefusalNotes } from "../refusals/RefusalNotes.ts"
import * as RefusalText from "../refusals/RefusalText.ts"
import * as RefusedHeader from "../refusals/RefusedHeader.ts"
import * as RefusedRecipient from "../refusals/RefusedRecipient.ts"

/** A reply of 4xx or 5xx to a relay. */
export interface Refused {
  readonly workspaceId: WorkspaceId
  readonly domain: Pick<Domain, "id">
  readonly envelope: Envelope
  readonly reply: Reply
  readonly recipients: ReadonlyArray<string>
  /** What is known of the message: its first bytes and its size. */
  readonly first?: ReadonlyArray<Uint8Array>
  readonly bytes?: number | null
  readonly cause?: Cause.Cause<unknown> | undefined
}

const replies = Metric.counter("inlet_ingest_replies_total", {
  description: "Replies to mail of the ingest route by SMTP code: every 4xx and 5xx with its reason, and 250"
})

const count = (code: number, reason?: RefusalReason, times = 1) =>
  Metric.update(Metric.withAttributes(replies, { code: `${code}`, ...(reason === undefined ? {} : { reason }) }), times)

/** Creates the series with alerts. Prometheus counts no increase in the first value of a series. */
const beginAlerted = Effect.all([count(451, "storage", 0), count(452, "quota", 0)], { discard: true })

/** Counts, logs and notes the refusals of mail from relays, as SMTP does. */
export const make = Effect.gen(function* () {
  const notes = yield* RefusalNotes
  const lines = yield* RefusalLines.make
  yield* beginAlerted

  const log = ({ cause, envelope, recipients, reply, workspaceId }: Refused) => {
    const [recipient] = recipients
    const line = `A relayed message was answered ${reply.code} ${reply.enhanced}`
    const isNews = lines.take()
    const entry = !isNews
      ? Effect.logDebug(line)
      : reply.code === 451
        ? FailureLog.error(line, cause ?? Cause.empty)
        : Effect.logInfo(line)
    return Effect.annotateLogs(entry, {
      reason: reply.reason,
      workspace_id: workspaceId,
      remote_address: RefusalText.text(envelope.remoteAddress),
      sender: RefusalText.address(envelope.from),
      ...(recipient === undefined ? {} : RefusedRecipient.inWords(recipient)),
      ...(recipients.length < 2 ? {} : { recipients: recipients.length })
    })
  }

  const note = ({ bytes = null, domain, envelope, first, recipients, reply }: Refused) => {
    const header = first === undefined ? {} : RefusedHeader.of(first)
    for (const recipient of recipients) {
      notes.note({
        ...header,
        domain: { id: domain.id },
        reason: reply.reason,
        code: reply.code,
        reply: `${reply.code} ${reply.enhanced} ${reply.text}`,
        client: envelope.remoteAddress,
        helo: envelope.helo,
        relayed: true,
        from: envelope.from,
        recipient,
        bytes
      })
    }
  }

  return {
    /** Counts a message that was stored. */
    accepted: count(250),
    refused: (refusal: Refused) =>
      Effect.suspend(() => {
        note(refusal)
        return Effect.andThen(log(refusal), count(refusal.reply.code, refusal.reply.reason))
      })
  }
})
