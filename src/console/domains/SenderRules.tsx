import { useSignal } from "@preact/signals"
import { call } from "../api/Api.ts"
import type { Domain, SenderRule } from "../api/Contract.ts"
import { retryFailed, useLoaded } from "../api/Loaded.ts"
import { useAction } from "../frame/Action.ts"
import { announce } from "../frame/Announcer.ts"
import { Problem } from "../frame/Dialog.tsx"
import { Skeleton } from "../frame/Skeleton.tsx"
import { Table } from "../frame/Table.tsx"
import { Tag } from "../frame/Tag.tsx"

type DomainNamed = Pick<Domain, "domain" | "id">

const lists = { allow: "Allow", block: "Block" } as const
const matches = {
  author: "the author (From)",
  envelope: "the envelope sender",
  network: "the network of the client"
} as const
const actions = { hold: "Hold its mail", reject: "Reject it with 550" } as const

/** Who may write to a domain: its allow and block rules, with a form for one more. A read key may not see them. */
export const SenderRules = ({ domain }: { readonly domain: DomainNamed }) => {
  const rules = useLoaded(domain.id, (signal) =>
    call("GET /api/domains/{id}/sender-rules", { path: [domain.id], signal })
  )
  const { value } = rules.value
  const all = value?.sender_rules
  return (
    <section class="card">
      <h2>Who may write</h2>
      <p class="note">
        With at least one allow rule, Inlet delivers only mail of senders that an allow rule names and that DMARC, DKIM
        or SPF confirms. Block rules come first, and need no confirmation. Other mail is held: you find it in the inbox
        and can release it.
      </p>
      <Problem message={rules.error.value} retry={retryFailed} />
      {all === undefined && rules.error.value === undefined && <Skeleton lines={2} />}
      {all?.length === 0 && <p>No rules: every sender passes.</p>}
      {all !== undefined && all.length > 0 && (
        <Table
          rows={all}
          keyOf={({ id }) => id}
          columns={[
            {
              head: "Rule",
              cell: ({ list }) => <Tag tone={list === "allow" ? "good" : "bad"}>{lists[list]}</Tag>
            },
            { head: "Sender", cell: ({ value }) => <span class="url">{value}</span> },
            {
              head: "About",
              cell: ({ action, match, webhook_id }) => (
                <>
                  {matches[match]}
                  {action === "reject" && ", rejected with 550"}
                  {webhook_id !== null && ", at one webhook"}
                </>
              )
            },
            { head: "Note", cell: ({ note }) => note },
            { head: "Remove", isHeadHidden: true, cell: (rule) => <RemoveRule rule={rule} onChange={rules.reload} /> }
          ]}
        />
      )}
      <NewRule domain={domain} onChange={rules.reload} />
    </section>
  )
}

const RemoveRule = ({ onChange, rule }: { readonly rule: SenderRule; readonly onChange: () => Promise<void> }) => {
  const { error, isRunning, run } = useAction()
  const remove = () =>
    run(async () => {
      await call("DELETE /api/domains/{id}/sender-rules/{ruleId}", { path: [rule.domain_id, rule.id] })
      announce(`The rule about ${rule.value} is removed. Mail that it held stays held`)
      await onChange()
    })
  return (
    <>
      <button
        type="button"
        class="small"
        aria-label={`Remove the rule about ${rule.value}`}
        disabled={isRunning.value}
        onClick={() => void remove()}
      >
        Remove
      </button>
      <Problem message={error.value} />
    </>
  )
}

const NewRule = ({ domain, onChange }: { readonly domain: DomainNamed; readonly onChange: () => Promise<void> }) => {
  const { error, isRunning, run } = useAction()
  const list = useSignal<keyof typeof lists>("allow")
  const match = useSignal<keyof typeof matches>("author")
  const action = useSignal<keyof typeof actions>("hold")
  const sender = useSignal("")
  const note = useSignal("")
  const canReject = list.value === "block" && match.value !== "author"
  const create = () =>
    run(async () => {
      const rule = await call("POST /api/domains/{id}/sender-rules", {
        path: [domain.id],
        body: {
          list: list.value,
          match: match.value,
          value: sender.value.trim(),
          ...(canReject ? { action: action.value } : {}),
          ...(note.value.trim() === "" ? {} : { note: note.value.trim() })
        }
      })
      announce(`${rule.value} is ${rule.list === "allow" ? "allowed" : "blocked"} from now on`)
      sender.value = ""
      note.value = ""
      await onChange()
    })
  return (
    <details>
      <summary>Add a rule</summary>
      <form
        class="narrow-form"
        onSubmit={(event) => {
          event.preventDefault()
          void create()
        }}
      >
        <Choice name="Rule" words={lists} value={list} />
        <Choice name="About" words={matches} value={match} />
        <label>
          {match.value === "network" ? "Network, such as 192.0.2.0/24" : "Address, example.com or *.example.com"}
          <input
            type="text"
            required
            maxLength={254}
            value={sender.value}
            onInput={({ currentTarget }) => {
              sender.value = currentTarget.value
            }}
          />
        </label>
        {canReject && <Choice name="What becomes of it" words={actions} value={action} />}
        <label>
          Note
          <input
            type="text"
            maxLength={200}
            value={note.value}
            onInput={({ currentTarget }) => {
              note.value = currentTarget.value
            }}
          />
        </label>
        <div class="actions">
          <button type="submit" class="primary" disabled={isRunning.value}>
            Add the rule
          </button>
        </div>
      </form>
      <Problem message={error.value} />
    </details>
  )
}

const Choice = <Key extends string>({
  name,
  value,
  words
}: {
  readonly name: string
  readonly words: Readonly<Record<Key, string>>
  readonly value: { value: Key }
}) => {
  const isKey = (text: string): text is Key => Object.hasOwn(words, text)
  return (
    <label>
      {name}
      <select
        value={value.value}
        onChange={({ currentTarget }) => {
          if (isKey(currentTarget.value)) value.value = currentTarget.value
        }}
      >
        {Object.entries<string>(words).map(([key, meaning]) => (
          <option key={key} value={key}>
            {meaning}
          </option>
        ))}
      </select>
    </label>
  )
}
