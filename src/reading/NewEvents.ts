import * as HeaderText from "../mime/HeaderText.ts"
import type { Spam } from "../model/Spam.ts"
import * as Traits from "../model/Traits.ts"
import type * as LoopGuard from "../trust/LoopGuard.ts"
import type * as EventWriter from "./EventWriter.ts"
import type { Mail } from "./Mail.ts"
import type { ReadResult } from "./ReadTask.ts"
import * as Scanned from "./Scanned.ts"

/** The events of a parsed message, or of a group of its recipients. `spam` is undefined without a scanner. */
export const of = (
  mail: Mail,
  result: ReadResult,
  loops: LoopGuard.LoopGuard,
  spam: Spam | undefined,
  isLast: boolean
): EventWriter.ReadMessage => {
  const exceeded = answersOf(mail, result).map(loops.exceeds)
  return {
    id: mail.id,
    domainId: mail.domainId,
    authenticationResults: result.authenticationResults,
    storedMs: mail.storedMs,
    readRecipients: mail.readRecipients,
    isLast,
    events: mail.recipients.map(({ address, eventId, route }, index) => ({
      id: eventId,
      webhookId: result.judged[index]?.webhookId ?? route.id,
      recipient: filterable(address),
      sender: filterable(result.sender),
      subject: HeaderText.clean(result.subject),
      threadId: result.threadId,
      messageKey: result.messageKey,
      ...withScan(
        mail,
        {
          hold: result.judged[index]?.hold ?? (exceeded[index] === true ? "mail_loop" : null),
          payload: result.payloads[index] ?? new Uint8Array(),
          traits: result.traits
        },
        spam
      )
    }))
  }
}

/** The message as an answer to each of its recipients. Empty for other mail, which is part of no loop. */
export const answersOf = (mail: Mail, { isAnswer, judged, sender }: ReadResult): ReadonlyArray<LoopGuard.Answer> =>
  isAnswer
    ? mail.recipients.map(({ address }, index) => ({
        domainId: mail.domainId,
        recipient: address,
        author: sender,
        isConfirmed: judged[index]?.isConfirmed === true
      }))
    : []

type Scannable = Pick<EventWriter.NewEvent, "hold" | "payload" | "traits">

const withScan = ({ spamAction }: Mail, event: Scannable, spam: Spam | undefined): Scannable =>
  spam === undefined
    ? event
    : {
        hold: Scanned.hold(event.hold, spam, spamAction),
        payload: Scanned.payload(event.payload, spam),
        traits: event.traits | Traits.ofVerdict(spam.verdict)
      }

/** An address for list filters, truncated to 512 characters. The payload has the whole address. */
const filterable = (address: string) => HeaderText.clean(address.slice(0, 512))
