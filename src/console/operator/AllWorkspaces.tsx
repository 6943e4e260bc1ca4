import { useSignal } from "@preact/signals"
import { call } from "../api/Api.ts"
import type { ListedWorkspace } from "../api/Contract.ts"
import { useLoaded } from "../api/Loaded.ts"
import { useAction } from "../frame/Action.ts"
import { announce } from "../frame/Announcer.ts"
import { Confirm, Problem } from "../frame/Dialog.tsx"
import { number } from "../frame/Figures.ts"
import { Page } from "../frame/Page.tsx"
import { Skeleton } from "../frame/Skeleton.tsx"
import { Time } from "../frame/Time.tsx"

/** Every workspace of the service. */
export const AllWorkspaces = () => {
  const cursor = useSignal<string | undefined>(undefined)
  const chosen = useSignal<ListedWorkspace | undefined>(undefined)
  const { error, isRunning, run } = useAction()
  const loaded = useLoaded(`workspaces ${cursor.value}`, (signal) =>
    call("GET /admin/workspaces", { query: { cursor: cursor.value }, signal })
  )
  const page = loaded.value.value
  const remove = (workspace: ListedWorkspace) =>
    run(async () => {
      await call("DELETE /admin/workspaces/{workspaceId}", { path: [workspace.workspace_id] })
      announce("Workspace removed")
      chosen.value = undefined
      await loaded.reload()
    })
  return (
    <Page title="Workspaces" aside={<a href="/console/sign-in">Create a workspace</a>}>
      <Problem message={loaded.error.value} />
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
                  <button
                    type="button"
                    class="small"
                    aria-label={`Remove ${workspace.name}`}
                    onClick={() => {
                      chosen.value = workspace
                    }}
                  >
                    Remove
                  </button>
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
      {chosen.value !== undefined && (
        <Confirm
          title={`Remove ${chosen.value.name}?`}
          verb="Remove"
          isRunning={isRunning.value}
          error={error.value}
          onConfirm={() => chosen.value !== undefined && void remove(chosen.value)}
          onClose={() => {
            chosen.value = undefined
          }}
        >
          <p>Its keys and domains stop working at once. Inlet deletes its mail. This cannot be undone.</p>
        </Confirm>
      )}
    </Page>
  )
}
