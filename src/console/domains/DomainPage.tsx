import { useEffect } from "preact/hooks"
import { useLocation } from "preact-iso"
import { call } from "../api/Api.ts"
import { retryFailed, useLoaded } from "../api/Loaded.ts"
import { isReadOnly, refreshDomains } from "../api/Session.ts"
import { useAction } from "../frame/Action.ts"
import { announce } from "../frame/Announcer.ts"
import { ConfirmedButton } from "../frame/ConfirmedButton.tsx"
import { CopyLine } from "../frame/Copy.tsx"
import { Problem } from "../frame/Dialog.tsx"
import { DomainTag } from "../frame/DomainTag.tsx"
import { Page } from "../frame/Page.tsx"
import { Skeleton } from "../frame/Skeleton.tsx"
import { Tag } from "../frame/Tag.tsx"
import { ExactTime } from "../frame/Time.tsx"
import { DomainHealth } from "./DomainHealth.tsx"
import { SenderRules } from "./SenderRules.tsx"
import { SpamSetting } from "./SpamSetting.tsx"

/** Seconds between looks at DNS while a record is missing and the page is visible. */
const lookEvery = 15

/** Shows one domain with its state and its records beside the answers of DNS. */
export const DomainPage = ({ id }: { readonly id: string }) => {
  const { route } = useLocation()
  const domain = useLoaded(id, (signal) => call("GET /api/domains/{id}", { path: [id], signal }))
  const dns = useLoaded(id, (signal) => call("GET /api/domains/{id}/dns", { path: [id], signal }))
  const verifying = useAction()
  const loaded = domain.value.value
  const records = dns.value.value?.records ?? []
  const isWaiting = records.some(({ configured }) => !configured)
  const needsRecords = loaded !== undefined && loaded.origin !== "instant"

  const verify = () =>
    verifying.run(async () => {
      await call("POST /api/domains/{id}/verify", { path: [id] })
      announce("The domain is verified")
      await Promise.all([domain.reload(), dns.reload(), refreshDomains()])
    })
  const remove = async () => {
    await call("DELETE /api/domains/{id}", { path: [id] })
    await refreshDomains()
    route("/console/domains")
  }

  useEffect(() => {
    if (!needsRecords || !isWaiting) return
    const timer = setInterval(() => {
      if (!document.hidden) void dns.reload()
    }, lookEvery * 1_000)
    return () => clearInterval(timer)
  }, [needsRecords, isWaiting])

  return (
    <Page title={loaded?.domain ?? "Domain"} aside={loaded && <DomainTag status={loaded.status} />}>
      <p class="back always">
        <a href="/console/domains">← Domains</a>
      </p>
      <Problem message={domain.error.value ?? dns.error.value} retry={retryFailed} />
      {loaded === undefined && domain.error.value === undefined && <Skeleton lines={5} />}
      {loaded !== undefined && (
        <>
          {loaded.disabled_reason !== null && <p class="problem">Disabled: {loaded.disabled_reason}</p>}
          {needsRecords && (
            <section class="card">
              <h2>DNS records</h2>
              <p class="note">
                Publish these at your DNS provider. The page asks DNS every {lookEvery} s while one is missing.
              </p>
              {dns.value.value === undefined && dns.error.value === undefined && <Skeleton />}
              {records.map((record) => (
                <div class="record" key={`${record.type} ${record.name}`}>
                  <h3>
                    {record.type}{" "}
                    {record.configured ? <Tag tone="good">found in DNS</Tag> : <Tag tone="wait">not in DNS yet</Tag>}
                  </h3>
                  <dl class="facts">
                    <div>
                      <dt>Name</dt>
                      <dd>
                        <CopyLine text={record.name} what={`${record.type} name`} />
                      </dd>
                    </div>
                    <div>
                      <dt>Value</dt>
                      <dd>
                        <CopyLine text={record.value} what={`${record.type} value`} />
                      </dd>
                    </div>
                    {record.priority !== null && (
                      <div>
                        <dt>Priority</dt>
                        <dd>{record.priority}</dd>
                      </div>
                    )}
                    <div>
                      <dt>DNS says</dt>
                      <dd>
                        {record.problem ??
                          (record.observed.length === 0 ? (
                            "nothing"
                          ) : (
                            <code class="url">{record.observed.join(", ")}</code>
                          ))}
                      </dd>
                    </div>
                  </dl>
                </div>
              ))}
              {loaded.status === "pending_verification" && !isReadOnly.value && (
                <div class="actions">
                  <button
                    type="button"
                    class="primary"
                    disabled={verifying.isRunning.value}
                    onClick={() => void verify()}
                  >
                    Verify
                  </button>
                </div>
              )}
              <Problem message={verifying.error.value} />
            </section>
          )}
          <DomainHealth id={id} status={loaded.status} />
          {!isReadOnly.value && <SenderRules domain={loaded} />}
          <SpamSetting domain={loaded} onChange={domain.reload} />
          <section class="card">
            <h2>Facts</h2>
            <dl class="facts">
              <div>
                <dt>Address</dt>
                <dd>
                  <CopyLine text={`inbox@${loaded.domain}`} what="address" />
                </dd>
              </div>
              <div>
                <dt>Added</dt>
                <dd>
                  <ExactTime at={loaded.created_at} />
                </dd>
              </div>
              {loaded.live_at !== null && (
                <div>
                  <dt>First delivery</dt>
                  <dd>
                    <ExactTime at={loaded.live_at} />
                  </dd>
                </div>
              )}
              <div>
                <dt>Pages</dt>
                <dd>
                  <a href={`/console/d/${id}/inbox`}>Inbox</a>, <a href={`/console/d/${id}/webhook`}>Webhook</a>,{" "}
                  <a href={`/console/d/${id}/statistics`}>Statistics</a>
                </dd>
              </div>
            </dl>
            {!isReadOnly.value && (
              <div class="actions">
                <ConfirmedButton
                  label="Remove the domain"
                  title={`Remove ${loaded.domain}?`}
                  verb="Remove"
                  work={remove}
                >
                  Inlet refuses its mail from now on, and deletes its mail, events and attempts.
                </ConfirmedButton>
              </div>
            )}
          </section>
        </>
      )}
    </Page>
  )
}
