import { isUtf8 } from "node:buffer"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as FailureReason from "../delivery/FailureReason.ts"
import { CarriedMails, MailGone, MailUnready, type StoredMail } from "../delivery/formats/CarriedMails.ts"
import * as CarriedMessage from "../delivery/formats/CarriedMessage.ts"
import * as DeliveryReport from "../delivery/formats/DeliveryReport.ts"
import type { Recipe } from "../delivery/formats/WebhookFormat.ts"
import * as NodeBuffer from "../mime/NodeBuffer.ts"
import { RawStore } from "../providers/storage/RawStore.ts"
import * as Settings from "../Settings.ts"
import { ParserThreads } from "./ParserThreads.ts"
import * as QuickHeader from "./QuickHeader.ts"
import * as StoredMessage from "./StoredMessage.ts"

/** The size of a message of which only the event is known: quoted-printable triples a text, base64 adds two fifths. */
const estimate = ({ event, payloadBytes }: StoredMail): number =>
  3 * payloadBytes + event.attachments.reduce((sum, { size }) => sum + 1.4 * size, 0)

/** Longer texts are searched in a parser thread. */
const longestSearch = 1024 * 1024

const lineEnds = [" \r\n", "\t\r\n", " \n", "\t\n"]

/**
 * Whether receivers see another text than the event has: one without a delivery report, or with whitespace at the ends
 * of quoted-printable lines. HTML does not show that.
 */
const hasOwnText = ({ event: { attachments, html, parse } }: StoredMail, message: Uint8Array): boolean => {
  if (parse !== "full") return false
  if (attachments.some(({ contentType }) => contentType === DeliveryReport.type)) return true
  const bytes = NodeBuffer.view(message)
  if (!lineEnds.some((end) => bytes.includes(end))) return false
  if (bytes.length > longestSearch) return true
  const text = bytes.toString("latin1")
  return /quoted-printable/i.test(text) && (html === null || /text\/plain/i.test(text))
}

const gone = new MailGone({ message: FailureReason.gone })
const unready = (message: string) => new MailUnready({ message })

/** Loads raw messages, and parses them in the threads of delivery, on the account of their workspace. */
export const layer = Layer.effect(
  CarriedMails,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const raw = yield* RawStore
    yield* StoredMessage.beginCount
    const threads = yield* ParserThreads
    const { mxHost } = yield* Settings.reading
    const { messageBytes } = yield* Settings.rawStore

    const bytesOf = (kept: StoredMessage.Kept) =>
      StoredMessage.load(raw, kept).pipe(
        Effect.catchTags({
          NotFound: () => Effect.fail(gone),
          Damaged: () => Effect.fail(gone),
          RawStoreError: (error) =>
            Effect.andThen(
              Effect.logError("The raw message store failed", error),
              Effect.fail(unready(FailureReason.storeSilent))
            )
        })
      )

    /** A parser thread works for attachments and text of their own, other charsets, and headers that cost long. */
    const needsThread = (needs: Recipe["needs"], message: Uint8Array) =>
      !QuickHeader.isShort(message) || (needs !== "message" && !isUtf8(message))

    const load: CarriedMails["Service"]["load"] = Effect.fnUntraced(function* (mail, needs, reserve) {
      const { domainId, event, eventId, workspaceId } = mail
      const row = yield* StoredMessage.find(sql, domainId, eventId).pipe(
        Effect.mapError(() => unready(FailureReason.databaseSilent))
      )
      if (row === undefined) return yield* gone
      yield* reserve(row.kept.place?.bytes ?? Math.min(estimate(mail), messageBytes))
      const stored = yield* bytesOf(row.kept)
      const about = {
        traceBytes: row.kept.traceBytes,
        recipient: event.recipient,
        authenticationResults: row.authenticationResults,
        authservId: mxHost,
        spam: event.spam
      }
      const withParts = needs === "parts" && event.attachments.length > 0
      const withText = needs === "parts" && hasOwnText(mail, stored)
      if (!withParts && !withText && !needsThread(needs, stored))
        return { message: CarriedMessage.of({ ...about, message: stored }), parts: [], text: null }
      const asText = needs !== "message"
      return yield* threads
        .carry(workspaceId, { kind: "carry", asText, withParts, withText, ...about }, stored, bytesOf(row.kept))
        .pipe(Effect.mapError(() => unready(FailureReason.unparsed)))
    })

    return CarriedMails.of({ load })
  })
).pipe(Layer.provide(ParserThreads.layer))
