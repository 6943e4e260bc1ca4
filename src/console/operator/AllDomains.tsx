import { useSignal } from "@preact/signals"
import { call } from "../api/Api.ts"
import type { ListedDomain } from "../api/Contract.ts"
import { retryFailed, useLoaded } from "../api/Loaded.ts"
import { useAction } from "../frame/Action.ts"
import { announce } from "../frame/Announcer.ts"
import { ConfirmedButton } from "../frame/ConfirmedButton.tsx"
import { Problem } from "../frame/Dialog.tsx"
import { DomainTag, originWords } from "../frame/DomainTag.tsx"
import { useOlder } from "../frame/Older.tsx"
import { Page } from "../frame/Page.tsx"
import { SearchBox, searchOf } from "../frame/SearchBox.tsx"
import { Skeleton } from "../frame/Skeleton.tsx"
import { Table } from "../frame/Table.tsx"
import { Time } from "../frame/Time.tsx"

type Change = "disable" | "enable" | "remove"

const ask = (query: { readonly search: string | undefined; readonly cursor?: string }, signal?: AbortSignal) =>
  call("GET /admin/domains", { query, ...(signal === undefined ? {} : { signal }) })

type DomainPage = Awaited<ReturnType<typeof ask>>

const entriesOf = ({ domains, next_cursor }: DomainPage) => ({ entries: domains, cursor: next_cursor })

/** Every domain of the service. The operator disables, enables and removes them. */
export const AllDomains = () => {
  const text = useSignal("")
  const search = searchOf(text)
  const loaded = useLoaded(`domains ${search}`, (signal) => ask({ search }, signal))
  const page = loaded.value.value
  return (
    <Page title="All domains">
      <Problem message={loaded.error.value} retry={retryFailed} />
      <SearchBox text={text} />
      {page === undefined && loaded.error.value === undefined && <Skeleton lines={8} />}
      {page !== undefined && <List key={search} page={page} search={search} />}
    </Page>
  )
}

const changed = (change: Change, domain: string) => {
  const path = [domain]
  if (change === "remove") return call("DELETE /admin/domains/{domain}", { path })
  if (change === "disable") return call("POST /admin/domains/{domain}/disable", { path })
  return call("POST /admin/domains/{domain}/enable", { path })
}

const List = ({ page, search }: { readonly page: DomainPage; readonly search: string | undefined }) => {
  const { all, button } = useOlder(page, entriesOf, (cursor) => ask({ search, cursor }))
  // The list keeps its place.
  const apply = async (change: Change, { domain: name }: ListedDomain) => {
    const { domains } = await changed(change, name)
    const now = new Map(domains.map((domain) => [domain.id, domain]))
    announce(`${name}: ${change} done`)
    all.value =
      change === "remove"
        ? all.value
            .filter(({ id }) => !now.has(id))
            .map((domain) => (domain.domain === name ? { ...domain, held_by_another: false } : domain))
        : all.value.map((domain) => ({ ...domain, ...now.get(domain.id) }))
  }
  return (
    <>
      <Table
        rows={all.value}
        keyOf={({ id }) => id}
        columns={[
          { head: "Domain", cell: ({ domain }) => domain },
          { head: "Status", cell: ({ status }) => <DomainTag status={status} /> },
          { head: "Origin", cell: ({ origin }) => originWords[origin] },
          {
            head: "Workspace",
            cell: ({ workspace, workspace_id }) => <bdi title={workspace_id ?? undefined}>{workspace ?? "demo"}</bdi>
          },
          { head: "Added", cell: ({ created_at }) => <Time at={created_at} /> },
          { head: "Change", isHeadHidden: true, cell: (domain) => <Changes domain={domain} apply={apply} /> }
        ]}
      />
      {all.value.length === 0 && (
        <p class="empty">No domain{search === undefined ? " yet" : " has this in its name"}.</p>
      )}
      {button("Show more")}
    </>
  )
}

const Changes = ({
  apply,
  domain
}: {
  readonly domain: ListedDomain
  readonly apply: (change: Change, domain: ListedDomain) => Promise<void>
}) => {
  const enabling = useAction()
  // The operator's routes act on the workspace that holds the name.
  if (domain.held_by_another) return <span class="soft">held by another workspace</span>
  return (
    <>
      {domain.status === "disabled" ? (
        <button type="button" class="small" onClick={() => void enabling.run(() => apply("enable", domain))}>
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
          {domain.verified_at === null && " This counts for every workspace that has added the name."}
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
          Inlet refuses its mail, and deletes its mail, events and attempts. Another workspace can then verify the name.
        </ConfirmedButton>
      )}
      <Problem message={enabling.error.value} />
    </>
  )
}
