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
        <table class="table" tabIndex={0}>
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Id</th>
              <th scope="col" class="amount">
                Domains
              </th>
              <th scope="col" class="amount">
                Mail today
              </th>
              <th scope="col">Created</th>
              <th scope="col">
                <span class="visually-hidden">Remove</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {page.workspaces.map((workspace) => (
              <tr key={workspace.workspace_id}>
                <td dir="auto">{workspace.name}</td>
                <td>
                  <code>{workspace.workspace_id}</code>
                </td>
                <td class="amount">{number(workspace.domains)}</td>
                <td class="amount">{number(workspace.emails_today)}</td>
                <td>
                  <Time at={workspace.created_at} />
                </td>
                <td>
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
                </td>
              </tr>
            ))}
          </tbody>
        </table>
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
