import { Effect, Option } from "effect"
import type { InletProcess } from "../InletProcess.ts"
import * as Mailbox from "../Mailbox.ts"
import type { Bomb } from "../mime/Bomb.ts"
import { bombs } from "../mime/Bombs.ts"
import * as Pinger from "../Pinger.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"

/** The effect of one costly message, in milliseconds. */
export interface Impact {
  readonly name: string
  readonly reply: string
  /** From the last dot to the reply. */
  readonly answered: number
  /** From the reply to the event at the webhook, or null on timeout. */
  readonly delivered: number | null
  readonly parse: string
  /** The slowest answer to other clients meanwhile. */
  readonly api: number
  readonly smtp: number
  /** The delay by the machine alone. */
  readonly timer: number
}

const strike = Effect.fnUntraced(function* (
  inlet: InletProcess,
  address: string,
  { look }: Effect.Success<ReturnType<typeof Pinger.make>>,
  bomb: Bomb,
  patience: number
) {
  const receiver = yield* WebhookReceiver
  const bytes = bomb.build()
  const dialog = yield* Mailbox.begin(inlet.smtpPort, address)
  yield* look
  const started = performance.now()
  const reply = yield* Mailbox.data(dialog, bytes)
  const answered = performance.now() - started
  const received = yield* receiver.within(patience)
  const delivered = performance.now() - started - answered
  const { api, smtp, timer } = yield* look
  const impact: Impact = {
    name: bomb.name,
    reply,
    answered,
    delivered: Option.isSome(received) ? delivered : null,
    parse: Option.match(received, { onNone: () => "-", onSome: ({ event }) => event.parse }),
    api,
    smtp,
    timer
  }
  return impact
}, Effect.scoped)

/** Sends costly messages to a service in sequence, each or every nth of them, while another client uses it. */
export const run = Effect.fnUntraced(function* (
  inlet: InletProcess,
  options: {
    readonly patience: number
    readonly every?: number
    readonly told?: (impact: Impact) => Effect.Effect<void>
  }
) {
  const receiver = yield* WebhookReceiver
  const { address } = yield* inlet.inbox(receiver.url)
  const pinger = yield* Pinger.make(inlet)
  const { every = 1 } = options
  const chosen = bombs.filter((_, index) => index % every === 0)
  return yield* Effect.forEach(chosen, (bomb) =>
    Effect.tap(strike(inlet, address, pinger, bomb, options.patience), options.told ?? (() => Effect.void))
  )
})

/** One line of the printed table. */
export const row = ({ answered, api, delivered, name, parse, smtp }: Impact) =>
  `| ${[
    name.replaceAll("|", "\\|").slice(0, 60),
    Math.round(answered),
    delivered === null ? "never" : Math.round(delivered),
    parse,
    Math.round(api),
    Math.round(smtp)
  ].join(" | ")} |`
