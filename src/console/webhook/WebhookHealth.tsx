import { call } from "../api/Api.ts"
import type { Domain, WebhookHealth as Health } from "../api/Contract.ts"
import { isReadOnly } from "../api/Session.ts"
import { useAction } from "../frame/Action.ts"
import { Problem } from "../frame/Dialog.tsx"
import { millis, number } from "../frame/Figures.ts"
import { Tag } from "../frame/Tag.tsx"
import { Time } from "../frame/Time.tsx"

const capped = (value: number) => (value >= 10_000 ? "10,000 or more" : number(value))

/** Shows the health of the webhook, and resumes a paused one. */
export const WebhookHealth = ({
  domain,
  health,
  onChange
}: {
  readonly domain: Domain
  readonly health: Health
  readonly onChange: () => Promise<void>
}) => {
  const { error, isRunning, run } = useAction()
  const resume = () =>
    run(async () => {
      // The id of the catch-all is that of its domain. The shown URL has no credentials, so it is not sent back.
      await call("PATCH /api/domains/{id}/webhooks/{webhookId}", {
        path: [domain.id, domain.id],
        body: { action: "webhook" }
      })
      await onChange()
    })
  return (
    <section class="card">
      <h2>Health of the catch-all</h2>
      <p>
        {health.paused_at !== null ? (
          <>
            <Tag tone="bad">Paused</Tag> (<Time at={health.paused_at} />) because every attempt failed for five days.
            Inlet tries one delivery an hour{" "}
            {health.next_probe_at !== null && (
              <>
                (next <Time at={health.next_probe_at} />)
              </>
            )}
            .
          </>
        ) : health.failing_since !== null ? (
          <>
            <Tag tone="bad">Failing</Tag> First failure: <Time at={health.failing_since} />. Inlet retries each
            delivery, and keeps it as a dead letter after the last retry.
          </>
        ) : domain.pull ? (
          <>
            <Tag tone="plain">Pull</Tag> Mail waits until a client leases it (<code>inlet listen --take</code>).
          </>
        ) : domain.catch_all === "reject" && domain.verified_at !== null ? (
          <>
            <Tag tone="bad">Rejects</Tag> Inlet answers 550 to mail that no other webhook takes.
          </>
        ) : domain.webhookUrl === null ? (
          <>
            <Tag tone="plain">None</Tag>{" "}
            {domain.verified_at === null
              ? "Inlet takes no mail for this domain until it is verified."
              : "Inlet holds mail that no other webhook takes until a URL is set."}
          </>
        ) : health.last_success_at === null ? (
          <>
            <Tag tone="wait">New</Tag> No delivery yet.
          </>
        ) : (
          <Tag tone="good">Working</Tag>
        )}
      </p>
      {health.last_error !== null && health.failing_since !== null && (
        <p class="attempt-error">Last error: {health.last_error}</p>
      )}
      {health.paused_at !== null && !isReadOnly.value && (
        <div class="actions">
          <button type="button" class="primary" disabled={isRunning.value} onClick={() => void resume()}>
            Resume
          </button>
        </div>
      )}
      <Problem message={error.value} />
      <dl class="figures">
        <div>
          <dt>Last success</dt>
          <dd>{health.last_success_at === null ? "none" : <Time at={health.last_success_at} />}</dd>
        </div>
        <div>
          <dt>Attempts in 24 h</dt>
          <dd>
            {number(health.attempts)}
            {health.failed > 0 && <span class="bad-text"> ({number(health.failed)} failed)</span>}
          </dd>
        </div>
        <div>
          <dt>Answer time p50</dt>
          <dd>{health.p50_ms === null ? "–" : millis(health.p50_ms)}</dd>
        </div>
        <div>
          <dt>p99</dt>
          <dd>{health.p99_ms === null ? "–" : millis(health.p99_ms)}</dd>
        </div>
        {(["pending", "held", "dead"] as const).map((status) => (
          <div key={status}>
            <dt>{{ pending: "Pending", held: "Held", dead: "Dead letters" }[status]}</dt>
            <dd>
              <a href={`/console/d/${domain.id}/inbox?delivery=${status}&webhook=${domain.id}`}>
                {capped(health[status])}
              </a>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
