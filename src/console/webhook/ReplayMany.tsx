import { useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import { call } from "../api/Api.ts"
import type { Domain, Replay } from "../api/Contract.ts"
import { retryFailed, useLoaded } from "../api/Loaded.ts"
import { useAction } from "../frame/Action.ts"
import { Confirm, Problem } from "../frame/Dialog.tsx"
import { number } from "../frame/Figures.ts"
import { Time } from "../frame/Time.tsx"

const statuses = [
  ["dead", "Dead letters"],
  ["held", "Held mail"],
  ["delivered", "Delivered mail"]
] as const

const spans = [
  ["", "Of any time"],
  ["1", "Of the last day"],
  ["7", "Of the last 7 days"]
] as const

/** Delivers many events again: counts them, asks, and shows the progress of the job. */
export const ReplayMany = ({
  domain,
  onChange
}: {
  readonly domain: Domain
  readonly onChange: () => Promise<void>
}) => {
  const status = useSignal<(typeof statuses)[number][0]>("dead")
  const days = useSignal("")
  const body = () => ({
    status: status.value,
    ...(days.value === "" ? {} : { since: new Date(Date.now() - Number(days.value) * 86_400_000).toISOString() })
  })
  /** What was counted is started, whatever is chosen meanwhile. */
  const counted = useSignal<{ readonly body: ReturnType<typeof body>; readonly total: number } | undefined>(undefined)
  const { error, isRunning, run } = useAction()
  const jobs = useLoaded(domain.id, (signal) =>
    call("GET /api/domains/{id}/replays", { path: [domain.id], query: { limit: 1 }, signal })
  )
  const job = jobs.value.value?.replays[0]
  const count = () =>
    run(async () => {
      const chosen = body()
      const { total } = await call("POST /api/domains/{id}/replays", {
        path: [domain.id],
        body: { ...chosen, dry_run: true }
      })
      counted.value = { body: chosen, total }
    })
  const start = (chosen: ReturnType<typeof body>) =>
    run(async () => {
      await call("POST /api/domains/{id}/replays", { path: [domain.id], body: chosen })
      counted.value = undefined
      // A short job may end before the page sees it run.
      await jobs.reload()
      await onChange()
    })
  const ready = counted.value
  return (
    <section class="card">
      <h2>Replay</h2>
      <p class="note">After an outage Inlet brings waiting mail forward by itself. Here you send the rest again.</p>
      <div class="inline">
        <label>
          <span class="visually-hidden">Which mail</span>
          <select
            value={status.value}
            disabled={isRunning.value}
            onChange={({ currentTarget }) => {
              status.value = statuses.find(([one]) => one === currentTarget.value)?.[0] ?? "dead"
            }}
          >
            {statuses.map(([one, words]) => (
              <option key={one} value={one}>
                {words}
              </option>
            ))}
          </select>
        </label>
        <label>
          <span class="visually-hidden">Of which time</span>
          <select
            value={days.value}
            disabled={isRunning.value}
            onChange={({ currentTarget }) => {
              days.value = currentTarget.value
            }}
          >
            {spans.map(([one, words]) => (
              <option key={one} value={one}>
                {words}
              </option>
            ))}
          </select>
        </label>
        <button type="button" disabled={isRunning.value || job?.state === "running"} onClick={() => void count()}>
          Deliver again…
        </button>
      </div>
      {ready === undefined ? (
        <Problem message={error.value} />
      ) : (
        <Confirm
          title={`Deliver ${number(ready.total)} ${ready.total === 1 ? "event" : "events"} again?`}
          verb={ready.total === 0 ? "Nothing to deliver" : `Deliver ${number(ready.total)}`}
          isRunning={isRunning.value || ready.total === 0}
          error={error.value}
          onConfirm={() => void start(ready.body)}
          onClose={() => {
            counted.value = undefined
          }}
        >
          <p>
            They go to the webhook of {domain.domain}, oldest first, as fast as it answers. Each has the same event id
            as before.
          </p>
          {ready.body.status === "held" && (
            <p>
              Mail that a sender rule, the mail scanner or the loop guard holds is not among them. Release it where you
              read it.
            </p>
          )}
        </Confirm>
      )}
      {job !== undefined && (
        <Progress key={job.id} domainId={domain.id} job={job} reload={jobs.reload} onEnd={onChange} />
      )}
      <Problem message={jobs.error.value} retry={retryFailed} />
    </section>
  )
}

const Progress = ({
  domainId,
  job,
  onEnd,
  reload
}: {
  readonly domainId: string
  readonly job: Replay
  readonly reload: () => Promise<void>
  /** Called once when the job ends while the page shows it. */
  readonly onEnd: () => Promise<void>
}) => {
  const { error, isRunning, run } = useAction()
  const isOpen = job.state === "running"
  const wasOpen = useRef(isOpen)
  useEffect(() => {
    if (wasOpen.current && !isOpen) void onEnd()
    wasOpen.current = isOpen
  }, [isOpen])
  useEffect(() => {
    if (!isOpen) return
    const timer = setInterval(() => {
      if (!document.hidden) void reload()
    }, 2_000)
    return () => clearInterval(timer)
  }, [isOpen, reload])
  const done = job.delivered + job.failed
  const stop = () =>
    run(async () => {
      await call("DELETE /api/domains/{id}/replays/{replayId}", { path: [domainId, job.id] })
      await reload()
    })
  return (
    <section class="replay" aria-label="Last job">
      <p>
        {isOpen ? "Running" : job.state === "stopped" ? "Stopped" : "Done"}: {number(job.delivered)} of{" "}
        {number(job.total)} delivered
        {job.failed > 0 && (
          <span class="bad-text">
            , {number(job.failed)} failed
            {job.unserved > 0 && `, ${number(job.unserved)} of them without a webhook that takes mail`}
          </span>
        )}
        <span class="soft">
          {" "}
          (<Time at={job.finished_at ?? job.created_at} />)
        </span>
      </p>
      <progress max={Math.max(1, job.total)} value={done} aria-label="Progress" />
      {isOpen && (
        <div class="actions">
          <button type="button" disabled={isRunning.value} onClick={() => void stop()}>
            Stop
          </button>
        </div>
      )}
      <Problem message={error.value} />
    </section>
  )
}
