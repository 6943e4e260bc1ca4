import { useLocation, useRoute } from "preact-iso"
import { call } from "../api/Api.ts"
import { inConsole } from "../api/InConsole.ts"
import { retryFailed, useLoaded } from "../api/Loaded.ts"
import { domains } from "../api/Session.ts"
import { announce } from "../frame/Announcer.ts"
import { Problem } from "../frame/Dialog.tsx"
import { counted } from "../frame/Figures.ts"
import { Message } from "../frame/Message.tsx"
import { useOlder } from "../frame/Older.tsx"
import { Page } from "../frame/Page.tsx"
import { Skeleton } from "../frame/Skeleton.tsx"
import { TracedMail } from "./TracedMail.tsx"

const fields = [
  { name: "from", label: "From", hint: "alice@sender.example, or a domain" },
  { name: "to", label: "To", hint: "inbox@example.com, or a domain" }
] as const

const more = [
  { name: "subject", label: "Subject contains", hint: "" },
  { name: "message_id", label: "Message-ID", hint: "" }
] as const

type Name = (typeof fields)[number]["name"] | (typeof more)[number]["name"]

const names = [...fields, ...more].map(({ name }) => name)

/** Answers what became of a mail, as a timeline for each. The question stands in the address. */
export const Trace = ({ isForOperator = false }: { readonly isForOperator?: boolean }) => {
  const { query } = useRoute()
  const { path, route } = useLocation()
  const asked: Partial<Record<Name, string>> = Object.fromEntries(
    names.flatMap((name) => (query[name] ? [[name, query[name]]] : []))
  )
  const isAsked = Object.keys(asked).length > 0
  const key = JSON.stringify(asked)
  const ask = (options: { readonly cursor?: string; readonly signal?: AbortSignal }) => {
    const { cursor, ...rest } = options
    return call(isForOperator ? "GET /admin/trace" : "GET /api/trace", { query: { ...asked, cursor }, ...rest })
  }
  const loaded = useLoaded(key, async (signal) => {
    if (!isAsked) return undefined
    const page = await ask({ signal })
    announce(
      page.entries.length === 0
        ? page.hint === null
          ? "No mail here yet"
          : inConsole(page.hint)
        : `${counted(page.entries.length, "mail")} found`
    )
    return page
  })
  return (
    <Page title="Where is my mail?">
      <p class="note">
        Sender and recipient are enough. The answer shows every step of each mail, also of refused mail.
      </p>
      <form
        key={key}
        class="trace-form"
        onSubmit={(event) => {
          event.preventDefault()
          const given = new URLSearchParams()
          for (const [name, value] of new FormData(event.currentTarget)) {
            if (typeof value === "string" && value.trim() !== "") given.set(name, value.trim())
          }
          if (`${given}` === `${new URLSearchParams(asked)}`) void loaded.reload()
          else route(given.size === 0 ? path : `${path}?${given}`)
        }}
      >
        {fields.map((field) => (
          <Field key={field.name} {...field} value={asked[field.name]} />
        ))}
        <details open={more.some(({ name }) => asked[name] !== undefined)}>
          <summary>Subject or Message-ID</summary>
          <div class="trace-more">
            {more.map((field) => (
              <Field key={field.name} {...field} value={asked[field.name]} />
            ))}
          </div>
        </details>
        <div class="actions">
          <button type="submit" class="primary">
            Find it
          </button>
        </div>
      </form>
      <Problem message={loaded.error.value} retry={retryFailed} />
      {isAsked && loaded.value.value === undefined && loaded.error.value === undefined && <Skeleton lines={6} />}
      {loaded.value.value !== undefined && (
        <Found key={key} page={loaded.value.value} isOfAll={isForOperator} older={(cursor) => ask({ cursor })} />
      )}
      {!isAsked && !isForOperator && <Newest />}
    </Page>
  )
}

const Field = ({
  hint,
  label,
  name,
  value = ""
}: {
  readonly name: Name
  readonly label: string
  readonly hint: string
  readonly value?: string | undefined
}) => (
  <label>
    {label}
    <input class="wide" name={name} placeholder={hint} defaultValue={value} autocomplete="off" />
  </label>
)

type TracePage = Awaited<ReturnType<typeof call<"GET /api/trace">>>

const entriesOf = ({ entries, next_cursor }: TracePage) => ({ entries, cursor: next_cursor })

const Found = ({
  isOfAll,
  older,
  page
}: {
  readonly page: TracePage
  readonly isOfAll: boolean
  readonly older: (cursor: string) => Promise<TracePage>
}) => {
  const { all, button } = useOlder(page, entriesOf, older)
  return (
    <>
      {all.value.map((entry, index) => (
        <TracedMail
          key={entry.event_id ?? entry.refusal_id ?? entry.inbound_email_id}
          entry={entry}
          isOpen={index === 0}
          isOwn={!isOfAll || domains.value?.some(({ id }) => id === entry.domain_id) === true}
        />
      ))}
      {page.hint !== null && (
        <p class="empty">
          <Message text={page.hint} />
        </p>
      )}
      {page.hint === null && all.value.length === 0 && <p class="empty">No match among the newest mail.</p>}
      {button("Search older mail")}
    </>
  )
}

/** Where to begin without a question. */
const Newest = () => (
  <p class="note">
    Or look at all mail of a domain:{" "}
    {(domains.value ?? []).slice(0, 10).map(({ domain, id }) => (
      <a key={id} class="listed" href={`/console/trace?to=${encodeURIComponent(domain)}`}>
        {domain}
      </a>
    ))}
  </p>
)
