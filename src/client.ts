// The entry `inlet-mail/client`, for programs and test suites without Effect. It needs only fetch.
export type * from "./client/Contract.ts"
export type { Deliveries, Leasing } from "./client/Deliveries.ts"
export type { Domains, Wire } from "./client/Domains.ts"
export type { EventPage, Events, EventsQuery, WaitQuery } from "./client/Events.ts"
export { Inbox, type InboxOptions, type LinkKind, type MailFilter, type MailQuestion } from "./client/Inbox.ts"
export {
  type Envelope,
  type Handed,
  Inlet,
  type InletOptions,
  type ReplaySelection,
  type Simulated
} from "./client/Inlet.ts"
export {
  ApiError,
  type ArrivedMail,
  type InletError,
  NoAnswer,
  NoMail,
  type SmtpReply,
  UnwantedMail
} from "./client/InletError.ts"
export type { CallOptions } from "./client/Requests.ts"
export type { SenderRuleFields, Senders } from "./client/Senders.ts"
export type { WebhookFields, Webhooks } from "./client/Webhooks.ts"
