import { useSignal } from "@preact/signals"
import { call } from "../api/Api.ts"
import type { ListedWorkspace } from "../api/Contract.ts"
import { retryFailed, useLoaded } from "../api/Loaded.ts"
import { announce } from "../frame/Announcer.ts"
import { ConfirmedButton } from "../frame/ConfirmedButton.tsx"
import { Problem } from "../frame/Dialog.tsx"
import { number } from "../frame/Figures.ts"
import { Page } from "../frame/Page.tsx"
import { Skeleton } from "../frame/Skeleton.tsx"
import { Table } from "../frame/Table.tsx"
import { Time } from "../frame/Time.tsx"

/** Every workspace of the service. */
export const AllWorkspaces = () => {
  const cursor = useSignal<string | undefined>(undefined)
  const loaded = useLoaded(`workspaces ${cursor.value}`, (signal) =>
    call("GET /admin/workspaces", { query: { cursor: cursor.value }, signal })
  )
  const page = loaded.value.value
  const remove = async (workspace: ListedWorkspace) => {
    await call("DELETE /admin/workspaces/{workspaceId}", { path: [workspace.workspace_id] })
    announce("Workspace removed")
    await loaded.reload()
  }
  return (
    <Page title="Workspaces" aside={<a href="/console/sign-in">Create a workspace</a>}>
      <Problem message={loaded.error.value} retry={retryFailed} />
      {page === undefined && loaded.error.value === undefined && <Skeleton lines={8} />}
      {page !== undefined && (
        <Table
          rows={page.workspaces}
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
      )}
      <div class="actions">
        {cursor.value !== undefined && (
          <button
            type="button"
            onClick={() => {
              cursor.value = undefined
            }}
          >
            Newest
          </button>
        )}
        {page?.next_cursor != null && (
          <button
            type="button"
            onClick={() => {
              cursor.value = page.next_cursor ?? undefined
            }}
          >
            Older
          </button>
        )}
      </div>
    </Page>
  )
}
