import { useSignal } from "@preact/signals"
import { call } from "../api/Api.ts"
import type { Domain } from "../api/Contract.ts"
import { retryFailed, useLoaded } from "../api/Loaded.ts"
import { useAction } from "../frame/Action.ts"
import { announce } from "../frame/Announcer.ts"
import { ConfirmedButton } from "../frame/ConfirmedButton.tsx"
import { Problem } from "../frame/Dialog.tsx"
import { DomainTag } from "../frame/DomainTag.tsx"
import { Page } from "../frame/Page.tsx"
import { Skeleton } from "../frame/Skeleton.tsx"
import { Time } from "../frame/Time.tsx"

/** Rows that are drawn. The search narrows the rest. */
const mostRows = 200

type Change = "disable" | "enable" | "remove"

/** Every domain of the service. The operator disables, enables and removes them. */
export const AllDomains = () => {
  const search = useSignal("")
  const enabling = useAction()
  const loaded = useLoaded("domains", (signal) => call("GET /admin/domains", { signal }))
  const all = loaded.value.value?.domains
  const held = new Set(all?.flatMap(({ domain, verified_at }) => (verified_at === null ? [] : [domain])))
  const found = all?.filter(({ domain }) => domain.includes(search.value.trim().toLowerCase())) ?? []
  const apply = async (change: Change, { domain }: Domain) => {
    const path = [domain]
    if (change === "remove") await call("DELETE /admin/domains/{domain}", { path })
    else if (change === "disable") await call("POST /admin/domains/{domain}/disable", { path })
    else await call("POST /admin/domains/{domain}/enable", { path })
    announce(`${domain}: ${change} done`)
    await loaded.reload()
  }
  return (
    <Page title="All domains">
      <Problem message={enabling.error.value} />
      <Problem message={loaded.error.value} retry={retryFailed} />
      <input
        type="search"
        class="wide"
        aria-label="Domain contains"
        placeholder="Search domains"
        value={search.value}
        onInput={({ currentTarget }) => {
          search.value = currentTarget.value
        }}
      />
      {all === undefined && loaded.error.value === undefined && <Skeleton lines={8} />}
      {all !== undefined && (
        <table class="table" tabIndex={0}>
          <thead>
            <tr>
              <th scope="col">Domain</th>
              <th scope="col">Status</th>
              <th scope="col">Origin</th>
              <th scope="col">Added</th>
              <th scope="col">
                <span class="visually-hidden">Change</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {found.slice(0, mostRows).map((domain) => (
              <tr key={domain.id}>
                <td>{domain.domain}</td>
                <td>
                  <DomainTag status={domain.status} />
                </td>
                <td>{domain.origin}</td>
                <td>
                  <Time at={domain.created_at} />
                </td>
                <td class="buttons">
                  {/* The operator's routes act on the workspace that holds the name. */}
                  {domain.verified_at === null && held.has(domain.domain) ? (
                    <span class="soft">held by another workspace</span>
                  ) : domain.status === "disabled" ? (
                    <button
                      type="button"
                      class="small"
                      onClick={() => void enabling.run(() => apply("enable", domain))}
                    >
                      Enable
                    </button>
                  ) : (
                    <ConfirmedButton
                      isSmall
                      label="Disable"
                      title={`Disable ${domain.domain}?`}
                      verb="Disable"
                      work={() => apply("disable", domain)}
                    >
                      Inlet refuses its mail with 550 and pauses its deliveries until you enable it.
                    </ConfirmedButton>
                  )}
                  {domain.verified_at !== null && (
                    <ConfirmedButton
                      isSmall
                      label="Remove"
                      title={`Remove ${domain.domain}?`}
                      verb="Remove"
                      work={() => apply("remove", domain)}
                    >
                      Inlet refuses its mail, and deletes its mail, events and attempts. Another workspace can then
                      verify the name.
                    </ConfirmedButton>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {found.length > mostRows && <p class="note">{found.length - mostRows} more. Search to narrow the list.</p>}
    </Page>
  )
}
