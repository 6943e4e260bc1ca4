import { Duration, Effect } from "effect"
import type { Answer } from "../test/ApiCall.ts"
import type * as Receiver from "./Receiver.ts"
import type * as Sender from "./Sender.ts"

/** An event in the list of the API. */
interface Listed {
  readonly subject: string
  readonly event_id: string
  readonly inbound_email_id: string
}

/** The parties of a trial. */
interface Parties {
  readonly domainId: string
  /** Asks a process that serves the API. */
  readonly get: (path: string) => Effect.Effect<Answer>
  readonly sender: Effect.Success<ReturnType<typeof Sender.make>>
  readonly receiver: Effect.Success<typeof Receiver.make>
}

/** All events of the domain that match a filter such as `&delivery=pending`. */
export const events = Effect.fnUntraced(function* ({ domainId, get }: Parties, filter: string) {
  const list: Array<Listed> = []
  for (let cursor: string | null = ""; cursor !== null; ) {
    const after: string = cursor === "" ? "" : `&cursor=${cursor}`
    const { headers, json, status } = yield* get(`/api/domains/${domainId}/events?limit=100${filter}${after}`)
    // Long lists exceed the request rate of a workspace, and a process may just have lost its database.
    if (status === 429 || status >= 500) {
      yield* Effect.sleep(Duration.seconds(Number(headers["retry-after"] ?? 1)))
      continue
    }
    list.push(...json.events)
    cursor = json.next_cursor
  }
  return list
})

const acceptedOf = ({ sender }: Parties) => sender.sent.filter(({ acceptedAt }) => acceptedAt !== undefined)

/** The events that the webhook has received, by the marker of their message. */
const heardOf = ({ receiver }: Parties) => Map.groupBy(receiver.events.values(), ({ marker }) => marker)

/** Waits until every accepted message is delivered and recorded as such, or for this long. */
export const settled = (parties: Parties, patience: Duration.Duration) =>
  Effect.gen(function* () {
    const heard = heardOf(parties)
    if (acceptedOf(parties).some(({ marker }) => !heard.has(marker))) return false
    return (yield* events(parties, "&delivery=pending")).length === 0
  }).pipe(
    Effect.delay("250 millis"),
    Effect.repeat({ until: (yes) => yes }),
    Effect.timeoutOption(patience),
    Effect.asVoid
  )

/** At most five of them in a sentence, and none without any. */
export const some = (found: ReadonlyArray<string>, what: string): ReadonlyArray<string> =>
  found.length === 0
    ? []
    : [`${what}: ${found.slice(0, 5).join(", ")}${found.length > 5 ? " …" : ""} (${found.length})`]

const markers = (sent: ReadonlyArray<Sender.Sent>) => sent.map(({ marker }) => marker)

/** What became of every message, by the sender, the webhook and the API. `printed` is the output of all processes. */
export const of = Effect.fnUntraced(function* (
  parties: Parties,
  { printed, secrets }: { readonly printed: string; readonly secrets: Readonly<Record<string, string>> }
) {
  const { receiver, sender } = parties
  const accepted = acceptedOf(parties)
  const heard = heardOf(parties)
  const listed = Map.groupBy(yield* events(parties, ""), ({ subject }) => subject)
  const known = new Set(markers(sender.sent))
  const lost = accepted.filter(({ marker }) => !heard.has(marker))
  const unlisted = accepted.filter(({ marker }) => !listed.has(marker))
  const doubled = new Set([...heard, ...listed].flatMap(([marker, found]) => (found.length > 1 ? [marker] : [])))
  const invented = [...heard.keys(), ...listed.keys()].filter((marker) => !known.has(marker))
  const told = Object.entries(secrets).flatMap(([what, value]) => (printed.includes(value) ? [what] : []))
  return {
    accepted,
    heard,
    listed,
    lost,
    doubled,
    faults: [
      ...some(markers(lost), "Answered 250 and lost"),
      ...some([...doubled], "More than one event of one message"),
      ...some(invented, "Delivered or listed, and never sent"),
      ...some(markers(unlisted), "Answered 250 and not listed by the API"),
      ...some([...receiver.rejected], "Requests that failed verification"),
      ...some([...sender.bounced], "Refused for good"),
      ...some(
        markers(sender.sent.filter(({ acceptedAt }) => acceptedAt === undefined)),
        "Not accepted within a minute after the end"
      ),
      ...some(told, "Printed")
    ]
  }
})
