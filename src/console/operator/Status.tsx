import { call } from "../api/Api.ts"
import type { ServiceStatus } from "../api/Contract.ts"
import { retryFailed, useLoaded } from "../api/Loaded.ts"
import { Problem } from "../frame/Dialog.tsx"
import { bytes, millis, number } from "../frame/Figures.ts"
import { Page } from "../frame/Page.tsx"
import { Skeleton } from "../frame/Skeleton.tsx"
import { Table } from "../frame/Table.tsx"
import { Tag } from "../frame/Tag.tsx"
import { Time } from "../frame/Time.tsx"

const capped = (value: number) => (value >= 10_000 ? "10,000 or more" : number(value))

/** Below this share of free space a disk is short. */
const shortShare = 0.1

/** Shows the operator queues, storage, failing webhooks and settings. */
export const Status = () => {
  const loaded = useLoaded("status", (signal) => call("GET /admin/status", { signal }))
  const status = loaded.value.value
  return (
    <Page
      title="Status"
      aside={
        <button type="button" class="small" onClick={() => void loaded.reload()}>
          Refresh
        </button>
      }
    >
      <Problem message={loaded.error.value} retry={retryFailed} />
      {status === undefined && loaded.error.value === undefined && <Skeleton lines={8} />}
      {status !== undefined && (
        <>
          <Figures status={status} />
          <Webhooks status={status} />
          <ChangedSettings status={status} />
        </>
      )}
    </Page>
  )
}

const Figures = ({ status }: { readonly status: ServiceStatus }) => (
  <>
    <section class="card">
      <h2>Queues</h2>
      <dl class="figures">
        <div>
          <dt>Mail to parse</dt>
          <dd>{capped(status.queues.unread)}</dd>
        </div>
        <div>
          <dt>Pending deliveries</dt>
          <dd>{capped(status.queues.pending)}</dd>
        </div>
        <div>
          <dt>Held</dt>
          <dd>{capped(status.queues.held)}</dd>
        </div>
        <div>
          <dt>Dead letters</dt>
          <dd>{capped(status.queues.dead)}</dd>
        </div>
      </dl>
      <p class="note">
        <a href="/metrics" target="_blank" rel="noreferrer">
          Metrics of this process
        </a>{" "}
        show parser threads, connections and refusals.
      </p>
    </section>
    <section class="card">
      <h2>Process and storage</h2>
      <dl class="figures">
        <div>
          <dt>Version</dt>
          <dd>
            {status.version} <span class="soft">on Node {status.node}</span>
          </dd>
        </div>
        <div>
          <dt>Mode</dt>
          <dd>
            {status.mode} <span class="soft">{status.roles.join(", ")}</span>
          </dd>
        </div>
        <div>
          <dt>Running for</dt>
          <dd>{millis(status.uptime_seconds * 1_000)}</dd>
        </div>
        <div>
          <dt>Memory</dt>
          <dd>{bytes(status.memory_bytes)}</dd>
        </div>
        <div>
          <dt>Database</dt>
          <dd>
            {bytes(status.database.bytes)}{" "}
            <span class="soft">
              {status.database.kind === "embedded" ? "embedded" : "server"} PostgreSQL {status.database.version}
            </span>
          </dd>
        </div>
        {status.scanner !== null && (
          <div>
            <dt>Mail scanner</dt>
            <dd>
              {status.scanner.answers ? (
                <Tag tone="good">answers</Tag>
              ) : (
                <>
                  <Tag tone="bad">fails</Tag> <span class="soft">{status.scanner.error}</span>
                </>
              )}
            </dd>
          </div>
        )}
        {status.disks.map(({ folder, free_bytes, total_bytes }) => (
          <div key={folder}>
            <dt>Disk of {folder}</dt>
            <dd>
              {bytes(free_bytes)} <span class="soft">free of {bytes(total_bytes)}</span>{" "}
              {free_bytes < total_bytes * shortShare && <Tag tone="bad">short</Tag>}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  </>
)

const Webhooks = ({ status: { failing_webhooks: webhooks } }: { readonly status: ServiceStatus }) => (
  <section class="card">
    <h2>Failing webhooks</h2>
    {webhooks.length === 0 ? (
      <p class="note">None. Every webhook took its last delivery.</p>
    ) : (
      <Table
        rows={webhooks}
        keyOf={({ domain_id, pattern }) => `${pattern}@${domain_id}`}
        columns={[
          {
            head: "Domain",
            cell: ({ domain, pattern }) => (
              <>
                {domain}
                {pattern !== "*" && <code> {pattern}</code>}
              </>
            )
          },
          { head: "Workspace", cell: ({ workspace }) => workspace },
          { head: "Host", cell: ({ host }) => host },
          {
            head: "Since",
            cell: ({ failing_since, paused_at }) => (
              <>
                <Time at={failing_since} /> {paused_at !== null && <Tag tone="bad">paused</Tag>}
              </>
            )
          }
        ]}
      />
    )}
  </section>
)

const ChangedSettings = ({ status: { settings } }: { readonly status: ServiceStatus }) => (
  <section class="card">
    <h2>Settings</h2>
    {settings.length === 0 ? (
      <p class="note">Every setting has its default.</p>
    ) : (
      <Table
        rows={settings}
        keyOf={({ name }) => name}
        columns={[
          { head: "Setting", cell: ({ name }) => <code>{name}</code> },
          {
            head: "Value",
            cell: ({ value }) =>
              value === null ? <span class="soft">set, secret</span> : <code class="url">{value}</code>
          },
          { head: "Default", cell: ({ fallback }) => <span class="soft">{fallback.replaceAll("`", "")}</span> }
        ]}
      />
    )}
  </section>
)
