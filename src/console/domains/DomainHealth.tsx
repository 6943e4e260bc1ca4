import { call } from "../api/Api.ts"
import type { Domain, HealthCheck } from "../api/Contract.ts"
import { retryFailed, useLoaded } from "../api/Loaded.ts"
import { useAction } from "../frame/Action.ts"
import { announce } from "../frame/Announcer.ts"
import { Problem } from "../frame/Dialog.tsx"
import { Message } from "../frame/Message.tsx"
import { Skeleton } from "../frame/Skeleton.tsx"
import { Tag, type Tone } from "../frame/Tag.tsx"

const tones: Record<HealthCheck["status"], Tone> = { ok: "good", warning: "wait", error: "bad", unknown: "plain" }

const words: Record<HealthCheck["status"], string> = {
  ok: "ok",
  warning: "warning",
  error: "error",
  unknown: "no answer"
}

const names: Record<HealthCheck["check"], string> = {
  domain: "Domain",
  txt: "TXT record",
  mx: "MX record",
  mx_host: "MX host",
  mx_elsewhere: "Other MX hosts",
  port25: "Mail server",
  starttls: "Encryption",
  certificate: "Certificate",
  storage: "Storage",
  webhook: "Webhook",
  quota: "Quota",
  last_mail: "Last mail",
  refusals: "Refusals"
}

/** Shows whether mail of a domain arrives and is delivered, and what to do if not. */
export const DomainHealth = ({ id, status }: Pick<Domain, "id" | "status">) => {
  const health = useLoaded(id, (signal) => call("GET /api/domains/{id}/health", { path: [id], signal }), status)
  const checking = useAction()
  const loaded = health.value.value
  const again = () =>
    checking.run(async () => {
      await health.reload()
      announce(health.value.value?.summary ?? "The check has no result")
    })
  return (
    <section class="card">
      <h2>Health</h2>
      <Problem message={health.error.value} retry={retryFailed} />
      {loaded === undefined && health.error.value === undefined && <Skeleton lines={4} />}
      {loaded !== undefined && (
        <>
          <p>
            <Message text={loaded.summary} />
          </p>
          <ul class="checks">
            {loaded.checks.map(({ check, message, remedy, status }) => (
              <li key={`${check} ${message}`}>
                <h3>
                  {names[check]} <Tag tone={tones[status]}>{words[status]}</Tag>
                </h3>
                <p>
                  <Message text={message} />
                </p>
                {remedy !== null && (
                  <p class="remedy">
                    <Message text={remedy} />
                  </p>
                )}
              </li>
            ))}
          </ul>
          {loaded.mx_hosts_left_out > 0 && (
            <p class="note">{loaded.mx_hosts_left_out} further MX records were not looked up.</p>
          )}
        </>
      )}
      <div class="actions">
        <button type="button" disabled={checking.isRunning.value} onClick={() => void again()}>
          Check again
        </button>
      </div>
    </section>
  )
}
