import { createHash } from "node:crypto"
import { Clock, Context, Effect, Exit, Layer, type Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Arrival } from "../intake/Copies.ts"
import { DataMemory, type Share } from "../intake/DataMemory.ts"
import * as EnvelopeAddress from "../intake/EnvelopeAddress.ts"
import { Intake } from "../intake/Intake.ts"
import type { MessageBytes } from "../intake/MessageBytes.ts"
import type { Recipient } from "../intake/Recipient.ts"
import * as Reply from "../intake/Reply.ts"
import * as RetryKey from "../intake/RetryKey.ts"
import { type Invalid, type Unauthorized, Unprocessable } from "../model/ApiError.ts"
import type { Domain } from "../model/Domain.ts"
import { type Envelope, InboundEmailId } from "../model/InboundEmail.ts"
import type { WorkspaceId } from "../model/Workspace.ts"
import * as RefusedHeader from "../refusals/RefusedHeader.ts"
import * as Settings from "../Settings.ts"
import * as IngestRefusals from "./IngestRefusals.ts"
import * as MailRefused from "./MailRefused.ts"
import * as RelayedBody from "./RelayedBody.ts"
import * as RelayedRecipients from "./RelayedRecipients.ts"

/** A message from a relay. */
export interface Relayed {
  readonly workspaceId: WorkspaceId
  /** The domain that the relay hands mail over for. */
  readonly domain: Pick<Domain, "id" | "domain" | "status">
  readonly from: string
  readonly recipients: ReadonlyArray<string>
  /** The client as the relay names it. Both are empty if it does not. */
  readonly client: { readonly address: string; readonly helo: string }
  readonly idempotencyKey: string | undefined
  /** The size that the relay announced. */
  readonly announced: number | undefined
  /** Fails with Unauthorized if its key was replaced before its end. */
  readonly body: Stream.Stream<Uint8Array, Invalid | Unauthorized | SqlError>
}

/** Accepts mail from a relay over HTTP. It takes the same path as mail by SMTP. */
export class Ingest extends Context.Service<
  Ingest,
  {
    /**
     * Stores a message for all recipients or none. Succeeds once it is durable, with its id or that of an earlier copy.
     * Fails with the reply that SMTP would give.
     */
    receive(
      relayed: Relayed
    ): Effect.Effect<InboundEmailId, MailRefused.MailRefused | Unprocessable | Unauthorized | Invalid | SqlError>
  }
>()("inlet/ingest/Ingest") {
  static readonly layer = Layer.effect(
    Ingest,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const random = yield* SecureRandom.SecureRandom
      const intake = yield* Intake
      const memory = yield* DataMemory
      const refusals = yield* IngestRefusals.make
      const { messageBytes } = yield* Settings.smtp

      const refuse = Effect.fnUntraced(function* (refused: IngestRefusals.Refused) {
        yield* refusals.refused(refused)
        return yield* MailRefused.of(refused.reply, refused.recipients, yield* Clock.currentTimeMillis)
      })

      /** The id of the message with these retry keys, which an earlier request may have stored. */
      const stored = Effect.fnUntraced(function* (
        id: InboundEmailId,
        keys: ReadonlyArray<Uint8Array>,
        sha256: Uint8Array | undefined
      ) {
        const [row] =
          keys.length === 0
            ? []
            : yield* sql<{ readonly id: InboundEmailId; readonly isOther: boolean }>`
                SELECT inbound_email_id AS id,
                  -- Of any recipient: it has another message under this key.
                  coalesce(bool_or(sha256 <> ${sha256 ?? null}::bytea) OVER (), false) AS is_other
                FROM received_once LEFT JOIN inbound_emails ON inbound_emails.id = inbound_email_id
                WHERE key = ANY(${keys}::bytea[]) ORDER BY key LIMIT 1
              `
        if (row?.isOther === true) {
          return yield* new Unprocessable({
            message: "Idempotency-Key: This key was used for another message. Use a new key for each message"
          })
        }
        return row?.id ?? id
      })

      const store = Effect.fnUntraced(function* (
        relayed: Relayed,
        about: Pick<IngestRefusals.Refused, "workspaceId" | "domain" | "envelope" | "recipients">,
        recipients: ReadonlyArray<Recipient>,
        message: MessageBytes,
        share: Share
      ) {
        const { idempotencyKey } = relayed
        const id = InboundEmailId.make(yield* random.uuidV7())
        const first = message.first(RefusedHeader.mostBytes)
        const bytes = message.byteLength
        const sha256 = idempotencyKey === undefined ? undefined : hashOf(message)
        if (idempotencyKey !== undefined) {
          // Before anything is stored. A concurrent request is noticed after it.
          const named = RetryKey.nameOf(idempotencyKey)
          const keys = recipients.map(({ address, domainId }) => RetryKey.of(domainId, address, named))
          yield* stored(id, keys, sha256)
        }
        const arrival: Arrival = {
          envelope: about.envelope,
          recipients,
          transmission: "HTTP",
          relayed: { id, idempotencyKey },
          message: {
            byteLength: bytes,
            copyInto: (target, offset) => {
              message.copyInto(target, offset)
              // There is one copy, because all recipients are of one domain.
              message.clear()
            },
            keep: share.keep
          }
        }
        const exit = yield* Effect.exit(intake.receive(arrival))
        if (Exit.isFailure(exit)) {
          return yield* refuse({ ...about, reply: Reply.fromCause(exit.cause), first, bytes, cause: exit.cause })
        }
        yield* refusals.accepted
        return yield* stored(id, exit.value, sha256)
      }, Effect.uninterruptible)

      const receive: Ingest["Service"]["receive"] = Effect.fn("Ingest.receive")(function* (relayed: Relayed) {
        const { announced = 0, body, client, domain, from, recipients, workspaceId } = relayed
        const envelope: Envelope = { from, helo: client.helo, remoteAddress: client.address, relayed: true }
        const about = { workspaceId, domain, envelope, recipients }
        if (announced > messageBytes) {
          return yield* refuse({ ...about, reply: Reply.tooLarge(messageBytes), bytes: announced })
        }
        // Empty for a bounce.
        if (from !== "" && !EnvelopeAddress.isValid(from)) return yield* refuse({ ...about, reply: Reply.badSender })
        const { admitted, refused } = yield* RelayedRecipients.admit(intake, domain, envelope, recipients)
        for (const { address, cause, reply } of refused) {
          yield* refusals.refused({ ...about, reply, recipients: [address], cause })
        }
        if (refused[0] !== undefined) {
          const addresses = refused.map(({ address }) => address)
          return yield* MailRefused.of(refused[0].reply, addresses, yield* Clock.currentTimeMillis)
        }
        return yield* Effect.acquireUseRelease(
          Effect.sync(() => memory.enter(workspaceId)),
          (share) =>
            RelayedBody.collect(body, { share, mostBytes: messageBytes }).pipe(
              Effect.catchTag("NoRoom", ({ bytes, first, isTooLarge }) => {
                const reply = isTooLarge ? Reply.tooLarge(messageBytes) : Reply.fromError(new Reply.DataMemoryFull())
                return refuse({ ...about, reply, first, bytes })
              }),
              Effect.flatMap((message) => store(relayed, about, admitted, message, share))
            ),
          (share) => Effect.sync(() => share.leave())
        )
      })

      return Ingest.of({ receive })
    })
  )
}

const hashOf = (message: MessageBytes) => {
  const hash = createHash("sha256")
  for (const piece of message.pieces) hash.update(piece)
  return hash.digest()
}
