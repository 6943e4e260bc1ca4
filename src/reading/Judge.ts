import type { Contents } from "../mime/Mime.ts"
import { once } from "../mime/Once.ts"
import type { WebhookId } from "../model/Webhook.ts"
import type { Checked } from "../sender/SenderVerdicts.ts"
import * as Alignment from "../trust/Alignment.ts"
import * as Judgement from "../trust/Judgement.ts"
import * as SenderAddress from "../trust/SenderAddress.ts"
import type { ReadTask } from "./ReadTask.ts"

/** Makes a function that judges the sender of a message for each of its recipients. */
export const make = ({ envelope, rules, verdicts }: ReadTask, checked: Checked, contents: Contents) => {
  const alignment = verdicts === null ? Alignment.of(checked, contents) : () => Alignment.ofGiven(verdicts)
  const isEnvelopeConfirmed = checked.authentication.spf === "pass" && envelope.from !== "" && envelope.relayed !== true
  const authors = once(() => SenderAddress.sendersOf([...contents.authors(), contents.from ?? envelope.from]))
  return (recipient: string, webhookId: WebhookId): Judgement.Judgement =>
    Judgement.of(rules, {
      ...envelope,
      webhookId,
      author: contents.from,
      authors,
      alignment: alignment(recipient),
      isEnvelopeConfirmed
    })
}
