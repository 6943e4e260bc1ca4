import { useSignal } from "@preact/signals"
import { call } from "../api/Api.ts"
import type { Answers } from "../api/Contract.ts"
import { retryFailed, useLoaded } from "../api/Loaded.ts"
import { isReadOnly, signIn } from "../api/Session.ts"
import { ConfirmedButton } from "../frame/ConfirmedButton.tsx"
import { CopyLine } from "../frame/Copy.tsx"
import { Problem } from "../frame/Dialog.tsx"
import { bytes, number } from "../frame/Figures.ts"
import { Page } from "../frame/Page.tsx"
import { Skeleton } from "../frame/Skeleton.tsx"
import { Time } from "../frame/Time.tsx"
import { AdditionalKeys } from "./AdditionalKeys.tsx"
import { Sessions } from "./Sessions.tsx"

/** Keys of the workspace, browsers that are signed in, and usage against limits. */
export const KeysAndLimits = () => {
  const workspace = useLoaded("workspace", (signal) => call("GET /api/workspace", { signal }))
  return (
    <Page title="Keys and limits">
      <Problem message={workspace.error.value} retry={retryFailed} />
      {workspace.value.value === undefined && workspace.error.value === undefined && <Skeleton lines={5} />}
      {workspace.value.value !== undefined && <Usage workspace={workspace.value.value} />}
      {isReadOnly.value ? (
        <p class="note">Only the workspace's own key sees and changes keys.</p>
      ) : (
        <>
          <OwnKey />
          <AdditionalKeys />
          <Sessions />
        </>
      )}
    </Page>
  )
}

const Meter = ({ limit, name, used }: { name: string; used: number; limit: number | null }) => (
  <div>
    <dt>{name}</dt>
    <dd>
      {number(used)}{" "}
      {limit === null ? <span class="soft">no limit</span> : <span class="soft">of {number(limit)}</span>}
      {limit !== null && (
        <meter
          min={0}
          low={0.8 * limit}
          high={0.999 * limit}
          max={limit}
          optimum={0}
          value={used}
          aria-label={`${name}: ${used} of ${limit}`}
        />
      )}
    </dd>
  </div>
)

const Usage = ({ workspace: { day_ends_at, limits, used } }: { readonly workspace: Answers["GET /api/workspace"] }) => (
  <section class="card">
    <h2>Usage</h2>
    <dl class="figures">
      {/* Keys without usage open no session here. */}
      {used !== undefined && (
        <>
          <Meter name="Mail today" used={used.emails_today} limit={limits.emails_per_day} />
          <Meter name="Own domains" used={used.domains} limit={limits.domains} />
        </>
      )}
      <div>
        <dt>Largest message</dt>
        <dd>{bytes(limits.message_bytes)}</dd>
      </div>
      <div>
        <dt>Mail is kept</dt>
        <dd>
          {limits.retention_days === null
            ? "for ever"
            : limits.retention_days === 1
              ? "1 day"
              : `${limits.retention_days} days`}
        </dd>
      </div>
      <div>
        <dt>Requests a second</dt>
        <dd>{limits.requests_per_second === null ? "no limit" : number(limits.requests_per_second)}</dd>
      </div>
    </dl>
    <p class="note">
      The day ends <Time at={day_ends_at} />. Beyond the limit of a day Inlet answers 452, and senders retry. The
      operator of the service can raise limits.
    </p>
  </section>
)

const OwnKey = () => {
  const key = useSignal<string | undefined>(undefined)
  const rotate = async () => {
    const { api_key } = await call("POST /api/workspaces/rotate-key")
    // The session of the old key has ended with it. Whoever could not sign in needs the key all the more.
    await signIn({ key: api_key }).finally(() => {
      key.value = api_key
    })
  }
  return (
    <section class="card">
      <h2>API key</h2>
      {key.value === undefined ? (
        <>
          <p class="note">The workspace's own key may do everything. Inlet stores only its hash.</p>
          <div class="actions">
            <ConfirmedButton label="Replace the key" title="Replace the API key?" verb="Replace" work={rotate}>
              The old key stops working at once, and so do the browsers that signed in with it. Additional keys keep
              working.
            </ConfirmedButton>
          </div>
        </>
      ) : (
        <>
          <p>Save it now. Inlet does not show it again.</p>
          <CopyLine text={key.value} what="API key" />
        </>
      )}
    </section>
  )
}
