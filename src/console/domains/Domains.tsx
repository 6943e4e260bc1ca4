import { useSignal } from "@preact/signals"
import { useLocation, useRoute } from "preact-iso"
import { call } from "../api/Api.ts"
import { retryFailed, useLoaded } from "../api/Loaded.ts"
import { domains, hasMoreDomains, isReadOnly, refreshDomains } from "../api/Session.ts"
import { useAction } from "../frame/Action.ts"
import { Problem } from "../frame/Dialog.tsx"
import { DomainTag, originWords } from "../frame/DomainTag.tsx"
import { useOlder } from "../frame/Older.tsx"
import { Page } from "../frame/Page.tsx"
import { SearchBox, searchOf } from "../frame/SearchBox.tsx"
import { Skeleton } from "../frame/Skeleton.tsx"
import { Table } from "../frame/Table.tsx"
import { Time } from "../frame/Time.tsx"
import { BuyDomain } from "./BuyDomain.tsx"
import { DomainPage } from "./DomainPage.tsx"

/** The domains of the workspace, or one of them. */
export const Domains = () => {
  const { params } = useRoute()
  return params.domainId === undefined ? <AllDomains /> : <DomainPage key={params.domainId} id={params.domainId} />
}

const ask = (query: { readonly search: string | undefined; readonly cursor?: string }, signal?: AbortSignal) =>
  call("GET /api/domains", { query, ...(signal === undefined ? {} : { signal }) })

type DomainList = Awaited<ReturnType<typeof ask>>

const entriesOf = ({ domains, next_cursor }: DomainList) => ({ entries: domains, cursor: next_cursor })

const AllDomains = () => {
  const text = useSignal("")
  const search = searchOf(text)
  const loaded = useLoaded(`domains ${search}`, (signal) => ask({ search }, signal))
  const page = loaded.value.value
  return (
    <Page title="Domains">
      <Problem message={loaded.error.value} retry={retryFailed} />
      {hasMoreDomains.value && <SearchBox text={text} />}
      {page === undefined && loaded.error.value === undefined && <Skeleton lines={4} />}
      {page !== undefined && <List key={search} page={page} search={search} />}
      {!isReadOnly.value && (
        <>
          <AddDomain />
          <BuyDomain />
        </>
      )}
    </Page>
  )
}

const List = ({ page, search }: { readonly page: DomainList; readonly search: string | undefined }) => {
  const { all, button } = useOlder(page, entriesOf, (cursor) => ask({ search, cursor }))
  if (all.value.length === 0) {
    return (
      <p class="empty">
        {search === undefined
          ? "No domain yet. An instant inbox works without DNS."
          : "No domain has this in its name."}
      </p>
    )
  }
  return (
    <>
      <Table
        rows={all.value}
        keyOf={({ id }) => id}
        columns={[
          { head: "Domain", cell: ({ domain, id }) => <a href={`/console/domains/${id}`}>{domain}</a> },
          { head: "Status", cell: ({ status }) => <DomainTag status={status} /> },
          { head: "Origin", cell: ({ origin }) => originWords[origin] },
          { head: "Added", cell: ({ created_at }) => <Time at={created_at} /> },
          {
            head: "Pages",
            isHeadHidden: true,
            cell: ({ id }) => (
              <>
                <a href={`/console/d/${id}/inbox`}>Inbox</a> <a href={`/console/d/${id}/webhook`}>Webhook</a>
              </>
            )
          }
        ]}
      />
      {button("Show more")}
    </>
  )
}

const AddDomain = () => {
  const { route } = useLocation()
  const own = useAction()
  const instant = useAction()
  const name = useSignal("")
  const hasInstant = domains.value?.some(({ origin }) => origin === "instant") === true
  return (
    <div class="columns">
      <section class="card">
        <h2>Instant inbox</h2>
        <p class="note">A domain of this service that needs no DNS. Every address at it works at once.</p>
        <div class="actions">
          <button
            type="button"
            class="primary"
            disabled={hasInstant || instant.isRunning.value}
            onClick={() =>
              void instant.run(async () => {
                const { domain_id } = await call("POST /api/instant-inbox")
                await refreshDomains()
                route(`/console/d/${domain_id}/inbox`)
              })
            }
          >
            {hasInstant ? "You have one" : "Create an instant inbox"}
          </button>
        </div>
        <Problem message={instant.error.value} />
      </section>
      <section class="card">
        <h2>Your own domain</h2>
        <form
          class="inline"
          onSubmit={(event) => {
            event.preventDefault()
            void own.run(async () => {
              const { id } = await call("POST /api/domains", { body: { domain: name.value.trim() } })
              await refreshDomains()
              route(`/console/domains/${id}`)
            })
          }}
        >
          <label>
            <span class="visually-hidden">Domain</span>
            <input
              required
              placeholder="mail.example.com"
              value={name.value}
              onInput={({ currentTarget }) => {
                name.value = currentTarget.value
              }}
            />
          </label>
          <button type="submit" disabled={own.isRunning.value}>
            Add
          </button>
        </form>
        <p class="note">You publish a TXT and an MX record. The next page shows both.</p>
        <Problem message={own.error.value} />
      </section>
    </div>
  )
}
