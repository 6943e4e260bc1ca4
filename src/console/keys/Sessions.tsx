import { call } from "../api/Api.ts"
import { retryFailed, useLoaded } from "../api/Loaded.ts"
import { useAction } from "../frame/Action.ts"
import { announce } from "../frame/Announcer.ts"
import { Problem } from "../frame/Dialog.tsx"
import { Table } from "../frame/Table.tsx"
import { Time } from "../frame/Time.tsx"

/** The browser in a User-Agent, in a few words. */
const browserOf = (agent: string | null): string => {
  if (agent === null) return "unknown browser"
  const name = /(Firefox|Edg|Chrome|Safari)\/(\d+)/.exec(agent)
  const system = /(Windows|Mac OS X|Android|iPhone|iPad|Linux)/.exec(agent)?.[1]
  return name === null ? agent.slice(0, 40) : `${name[1]} ${name[2]}${system === undefined ? "" : ` on ${system}`}`
}

/** Browsers that are signed in to this workspace. */
export const Sessions = () => {
  const { error, isRunning, run } = useAction()
  const sessions = useLoaded("sessions", (signal) => call("GET /api/console/sessions", { signal }))
  const revoke = (id: string) =>
    run(async () => {
      await call("DELETE /api/console/sessions/{sessionId}", { path: [id] })
      announce("Session revoked")
      await sessions.reload()
    })
  return (
    <section class="card">
      <h2>Sessions</h2>
      <p class="note">Browsers that are signed in to this console. One ends after 12 hours without use.</p>
      <Problem message={error.value} />
      <Problem message={sessions.error.value} retry={retryFailed} />
      <Table
        rows={sessions.value.value?.sessions ?? []}
        keyOf={({ id }) => id}
        columns={[
          { head: "Browser", cell: ({ browser }) => <span title={browser ?? undefined}>{browserOf(browser)}</span> },
          { head: "Scope", cell: ({ scope }) => scope },
          { head: "Last used", cell: (session) => (session.current ? "now" : <Time at={session.last_used_at} />) },
          {
            head: "Revoke",
            isHeadHidden: true,
            cell: (session) =>
              session.current ? (
                <span class="soft">this one</span>
              ) : (
                <button
                  type="button"
                  class="small"
                  disabled={isRunning.value}
                  aria-label={`Revoke ${browserOf(session.browser)}`}
                  onClick={() => void revoke(session.id)}
                >
                  Revoke
                </button>
              )
          }
        ]}
      />
    </section>
  )
}
