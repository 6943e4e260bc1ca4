import { useSignal } from "@preact/signals"
import { call } from "../api/Api.ts"
import type { ListedWorkspace } from "../api/Contract.ts"
import { retryFailed, useLoaded } from "../api/Loaded.ts"
import { announce } from "../frame/Announcer.ts"
import { ConfirmedButton } from "../frame/ConfirmedButton.tsx"
import { Problem } from "../frame/Dialog.tsx"
import { number } from "../frame/Figures.ts"
import { useOlder } from "../frame/Older.tsx"
import { Page } from "../frame/Page.tsx"
import { SearchBox, searchOf } from "../frame/SearchBox.tsx"
import { Skeleton } from "../frame/Skeleton.tsx"
import { Table } from "../frame/Table.tsx"
import { Time } from "../frame/Time.tsx"

const ask = (query: { readonly search: string | undefined; readonly cursor?: string }, signal?: AbortSignal) =>
  call("GET /admin/workspaces", { query, ...(signal === undefined ? {} : { signal }) })

type WorkspacePage = Awaited<ReturnType<typeof ask>>

const entriesOf = ({ next_cursor, workspaces }: WorkspacePage) => ({ entries: workspaces, cursor: next_cursor })

/** Every workspace of the service. The operator removes them. */
export const AllWorkspaces = () => {
  const text = useSignal("")
  const search = searchOf(text)
  const loaded = useLoaded(`workspaces ${search}`, (signal) => ask({ search }, signal))
  const page = loaded.value.value
  return (
    <Page title="Workspaces" aside={<a href="/console/sign-in">Create a workspace</a>}>
      <Problem message={loaded.error.value} retry={retryFailed} />
      <SearchBox text={text} label="Name contains" placeholder="Search workspaces by name or id" />
      {page === undefined && loaded.error.value === undefined && <Skeleton lines={8} />}
      {page !== undefined && <List key={search} page={page} search={search} />}
    </Page>
  )
}

const List = ({ page, search }: { readonly page: WorkspacePage; readonly search: string | undefined }) => {
  const { all, button } = useOlder(page, entriesOf, (cursor) => ask({ search, cursor }))
  // The list keeps its place.
  const remove = async ({ name, workspace_id: id }: ListedWorkspace) => {
    await call("DELETE /admin/workspaces/{workspaceId}", { path: [id] })
    announce(`Workspace ${name} removed`)
    all.value = all.value.filter(({ workspace_id }) => workspace_id !== id)
  }
  return (
    <>
      <Table
        rows={all.value}
        keyOf={({ workspace_id }) => workspace_id}
        columns={[
          { head: "Name", cell: ({ name }) => <bdi>{name}</bdi> },
          { head: "Id", cell: ({ workspace_id }) => <code>{workspace_id}</code> },
          { head: "Domains", isAmount: true, cell: ({ domains }) => number(domains) },
          { head: "Mail today", isAmount: true, cell: ({ emails_today }) => number(emails_today) },
          { head: "Created", cell: ({ created_at }) => <Time at={created_at} /> },
          {
            head: "Remove",
            isHeadHidden: true,
            cell: (workspace) => (
              <ConfirmedButton
                isSmall
                label="Remove"
                ariaLabel={`Remove ${workspace.name}`}
                title={`Remove ${workspace.name}?`}
                verb="Remove"
                work={() => remove(workspace)}
              >
                Its keys and domains stop working at once. Inlet deletes its mail. This cannot be undone.
              </ConfirmedButton>
            )
          }
        ]}
      />
      {all.value.length === 0 && (
        <p class="empty">
          {search === undefined ? "No workspace yet." : "No workspace has this in its name or as its id."}
        </p>
      )}
      {button("Show more")}
    </>
  )
}
