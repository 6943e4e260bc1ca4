import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { call } from "../api/Api.ts"
import type { WorkspaceKey } from "../api/Contract.ts"
import { retryFailed, useLoaded } from "../api/Loaded.ts"
import { useAction } from "../frame/Action.ts"
import { announce } from "../frame/Announcer.ts"
import { CopyLine } from "../frame/Copy.tsx"
import { Problem } from "../frame/Dialog.tsx"
import { Table } from "../frame/Table.tsx"
import { Time } from "../frame/Time.tsx"

/** The read keys and ingest keys of the workspace. */
export const AdditionalKeys = () => {
  const keys = useLoaded("keys", (signal) => call("GET /api/workspaces/keys", { signal }))
  const of = (scope: WorkspaceKey["scope"]) => keys.value.value?.keys.filter((key) => key.scope === scope) ?? []
  const [reading, ingesting] = [of("read"), of("ingest")]
  return (
    <>
      <section class="card">
        <h2>Read keys</h2>
        <p class="note">
          For agents and colleagues who only read mail. They see no secret and change nothing. With a pattern, such as
          agent-7 or agent-*, a key sees only mail to these addresses, and opens no console.
        </p>
        <NewReadKey reload={keys.reload} />
        <Problem message={keys.error.value} retry={retryFailed} />
        <List keys={reading} reload={keys.reload} head="Sees mail to" reach={(key) => <Seen of={key} />} />
      </section>
      {ingesting.length > 0 && (
        <section class="card">
          <h2>Ingest keys</h2>
          <p class="note">
            For relays that hand mail over. They see no mail and change nothing.{" "}
            <code>inlet keys create --scope ingest</code> makes one.
          </p>
          <List keys={ingesting} reload={keys.reload} head="Hands mail to" reach={(key) => <Reached of={key} />} />
        </section>
      )}
    </>
  )
}

const NewReadKey = ({ reload }: { readonly reload: () => Promise<void> }) => {
  const { error, isRunning, run } = useAction()
  const name = useSignal("")
  const pattern = useSignal("")
  const made = useSignal<string | undefined>(undefined)
  const create = () =>
    run(async () => {
      const { api_key } = await call("POST /api/workspaces/keys", {
        body: {
          scope: "read",
          ...(name.value.trim() === "" ? {} : { name: name.value.trim() }),
          ...(pattern.value.trim() === "" ? {} : { pattern: pattern.value.trim() })
        }
      })
      made.value = api_key
      name.value = ""
      pattern.value = ""
      await reload()
    })
  return (
    <>
      <form
        class="inline"
        onSubmit={(event) => {
          event.preventDefault()
          void create()
        }}
      >
        <label>
          <span class="visually-hidden">Name of the key</span>
          <input
            maxLength={100}
            placeholder="Name, such as support agent"
            value={name.value}
            onInput={({ currentTarget }) => {
              name.value = currentTarget.value
            }}
          />
        </label>
        <label>
          <span class="visually-hidden">Pattern of the addresses whose mail the key sees</span>
          <input
            maxLength={64}
            placeholder="All addresses, or agent-7"
            value={pattern.value}
            onInput={({ currentTarget }) => {
              pattern.value = currentTarget.value
            }}
          />
        </label>
        <button type="submit" disabled={isRunning.value}>
          Create a read key
        </button>
      </form>
      {made.value !== undefined && (
        <>
          <p>Save it now. Inlet does not show it again.</p>
          <CopyLine text={made.value} what="read key" />
        </>
      )}
      <Problem message={error.value} />
    </>
  )
}

const List = ({
  head,
  keys,
  reach,
  reload
}: {
  readonly keys: ReadonlyArray<WorkspaceKey>
  readonly reload: () => Promise<void>
  /** Of the column that says what a key reaches. */
  readonly head: string
  readonly reach: (key: WorkspaceKey) => ComponentChildren
}) => {
  const { error, isRunning, run } = useAction()
  const revoke = (id: string) =>
    run(async () => {
      await call("DELETE /api/workspaces/keys/{keyId}", { path: [id] })
      announce("Key revoked")
      await reload()
    })
  return (
    <>
      <Problem message={error.value} />
      {keys.length > 0 && (
        <Table
          rows={keys}
          keyOf={({ id }) => id}
          columns={[
            { head: "Name", cell: ({ name }) => name ?? <span class="soft">no name</span> },
            { head: "Begins with", cell: ({ begins }) => <code>{begins}…</code> },
            { head, cell: reach },
            {
              head: "Last used",
              cell: ({ last_used_at }) => (last_used_at === null ? "never" : <Time at={last_used_at} />)
            },
            {
              head: "Revoke",
              isHeadHidden: true,
              cell: (key) => (
                <button
                  type="button"
                  class="small"
                  aria-label={`Revoke ${key.name ?? key.begins}`}
                  disabled={isRunning.value}
                  onClick={() => void revoke(key.id)}
                >
                  Revoke
                </button>
              )
            }
          ]}
        />
      )}
    </>
  )
}

const titleOf = (id: string | null) => (id === null ? undefined : `of the domain ${id}`)

const Seen = ({ of: { domain_id, pattern } }: { readonly of: WorkspaceKey }) => (
  <span title={titleOf(domain_id)}>
    {pattern === null ? (
      <span class="soft">all addresses</span>
    ) : (
      <>
        <code>{pattern}</code>
        {domain_id !== null && <span class="soft"> of one domain</span>}
      </>
    )}
  </span>
)

const Reached = ({ of: { domain_id } }: { readonly of: WorkspaceKey }) => (
  <span class="soft" title={domain_id ?? undefined}>
    {domain_id === null ? "all domains" : "one domain"}
  </span>
)
