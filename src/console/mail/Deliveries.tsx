import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { call } from "../api/Api.ts"
import type { DeliveryAttempt, ListedEvent } from "../api/Contract.ts"
import { useLoaded } from "../api/Loaded.ts"
import { isReadOnly } from "../api/Session.ts"
import { useAction } from "../frame/Action.ts"
import { announce } from "../frame/Announcer.ts"
import * as Clipboard from "../frame/Clipboard.ts"
import * as Curl from "../frame/Curl.ts"
import { Problem } from "../frame/Dialog.tsx"
import { millis } from "../frame/Figures.ts"
import { Skeleton } from "../frame/Skeleton.tsx"
import { Tag } from "../frame/Tag.tsx"
import { ExactTime, Time } from "../frame/Time.tsx"

/** Waits between looks at a delivery that is on its way, in seconds. */
const looks = [3, 3, 6, 12, 30, 60]

const soonMillis = 60_000

/** Shows each delivery attempt of an event, and the next one. */
export const Deliveries = ({
  domainId,
  event,
  onChange
}: {
  readonly domainId: string
  readonly event: ListedEvent
  readonly onChange: () => Promise<void>
}) => {
  const { delivery, event_id: eventId } = event
  const attempts = useLoaded(`${eventId} ${delivery.attempts} ${delivery.status}`, (signal) =>
    isReadOnly.value
      ? Promise.resolve(undefined)
      : call("GET /api/domains/{id}/delivery-attempts", {
          path: [domainId],
          query: { event_id: eventId, limit: 100 },
          signal
        })
  )
  const { error, isRunning, run } = useAction()
  const copied = useSignal(false)

  // A delivery that is due soon is asked for again, ever more seldom.
  useEffect(() => {
    if (delivery.status !== "pending" || delivery.nextAttemptAt === null) return
    const dueIn = Date.parse(delivery.nextAttemptAt) - Date.now()
    if (dueIn > soonMillis) return
    let count = 0
    let timer: ReturnType<typeof setTimeout>
    const look = () => {
      timer = setTimeout(
        () => {
          if (!document.hidden) void onChange()
          look()
        },
        (looks[Math.min(count++, looks.length - 1)] ?? 60) * 1_000
      )
    }
    look()
    return () => clearTimeout(timer)
  }, [delivery.status, delivery.nextAttemptAt, onChange])

  const replay = () =>
    run(async () => {
      const path = [domainId, eventId]
      const isEarly = delivery.nextAttemptAt !== null && Date.parse(delivery.nextAttemptAt) > Date.now()
      // A waiting delivery keeps its schedule. Any other one begins anew.
      if (isEarly) await call("POST /api/domains/{id}/events/{eventId}/deliver-now", { path })
      else {
        await call("POST /api/domains/{id}/events/{eventId}/replay", {
          path,
          query: { force: delivery.status === "delivered" ? "true" : undefined }
        })
      }
      announce("The delivery is queued")
      await onChange()
    })
  const release = (allow: boolean) =>
    run(async () => {
      await call("POST /api/domains/{id}/events/{eventId}/release", { path: [domainId, eventId], body: { allow } })
      announce(allow ? "Released. The author is allowed from now on" : "Released")
      await onChange()
    })
  const copyCurl = () =>
    run(async () => {
      const request = await call("GET /api/domains/{id}/events/{eventId}/signed", { path: [domainId, eventId] })
      await Clipboard.copy(Curl.of(request))
      announce("Command copied. It is valid for five minutes")
      copied.value = true
    })

  return (
    <>
      <p>{summaryOf(event)}</p>
      {!isReadOnly.value && (
        <div class="actions">
          {delivery.reason === undefined ? (
            <button type="button" class="primary" disabled={isRunning.value} onClick={() => void replay()}>
              {delivery.status === "delivered" ? "Deliver again" : "Deliver now"}
            </button>
          ) : (
            <button type="button" class="primary" disabled={isRunning.value} onClick={() => void release(false)}>
              Release
            </button>
          )}
          {delivery.reason === "sender_not_allowed" && event.trust?.aligned === true && (
            <button type="button" disabled={isRunning.value} onClick={() => void release(true)}>
              Release and allow {event.from}
            </button>
          )}
          <button type="button" disabled={isRunning.value} onClick={() => void copyCurl()}>
            {copied.value ? "Copied, valid for 5 minutes" : "Copy as curl, signed"}
          </button>
        </div>
      )}
      <Problem message={error.value ?? attempts.error.value} />
      {isReadOnly.value && <p class="note">A read key does not see the attempts.</p>}
      {attempts.value.value === undefined && !isReadOnly.value && attempts.error.value === undefined && <Skeleton />}
      <ol class="timeline" aria-label="Delivery attempts">
        {delivery.nextAttemptAt !== null && (
          <li class="attempt">
            <p>
              <Tag tone="wait">Next attempt</Tag> <ExactTime at={delivery.nextAttemptAt} />{" "}
              <span class="soft">
                (<Time at={delivery.nextAttemptAt} />)
              </span>
            </p>
          </li>
        )}
        {(attempts.value.value?.deliveryAttempts ?? []).map((attempt) => (
          <Attempt key={attempt.id} attempt={attempt} />
        ))}
      </ol>
    </>
  )
}

const summaryOf = ({ delivery: { attempts, deliveredAt, reason, status }, from, trust }: ListedEvent) => {
  const count = attempts === 1 ? "1 attempt" : `${attempts} attempts`
  switch (status) {
    case "delivered":
      return (
        <>
          Delivered {deliveredAt !== null && <Time at={deliveredAt} />} after {count}.
        </>
      )
    case "dead":
      return <>Dead letter after {count}. Inlet keeps the event: deliver it when the webhook works again.</>
    case "held":
      if (reason === "mail_loop") {
        return <>Held as a mail loop: {from} sent too many answers to this address in an hour.</>
      }
      if (reason === "spam") return <>The mail scanner calls this mail spam. Release it if it is not.</>
      if (reason === "virus") {
        return <>The mail scanner found a virus. Release it only if you know that it is harmless.</>
      }
      if (reason === "sender_blocked") return <>A sender rule blocks this sender.</>
      if (reason === "sender_not_allowed") {
        return trust?.aligned === true ? (
          <>No sender rule allows {from}.</>
        ) : (
          <>
            No sender rule allows this mail. Nothing confirms that it is from {from}, so a rule for this author would
            not count. Look whether it is forged before you release it.
          </>
        )
      }
      return <>No webhook takes this mail, or its webhook holds mail. Set a URL, then deliver it.</>
    case "pending":
      return <>{attempts === 0 ? "Waiting for its first attempt." : `Pending after ${count}.`}</>
  }
}

const Attempt = ({ attempt }: { readonly attempt: DeliveryAttempt }) => (
  <li class="attempt">
    <p>
      <Tag tone={attempt.ok ? "good" : "bad"}>
        {attempt.statusCode === null ? "No answer" : `${attempt.statusCode}`}
      </Tag>{" "}
      <b>Attempt {attempt.attempt}</b> <ExactTime at={attempt.requestedAt} />
      {attempt.durationMs !== null && <span class="soft"> {millis(attempt.durationMs)}</span>}
    </p>
    <p class="soft url">{attempt.url === "pull" ? "pulled by a client" : attempt.url}</p>
    {attempt.error !== null && <p class="attempt-error">{attempt.error}</p>}
    {attempt.responseBody !== null && attempt.responseBody !== "" && (
      <details>
        <summary>Answer</summary>
        <pre class="mail-body">{attempt.responseBody}</pre>
      </details>
    )}
  </li>
)
