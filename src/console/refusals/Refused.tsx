import { useRoute } from "preact-iso"
import { call } from "../api/Api.ts"
import type { Refusal } from "../api/Contract.ts"
import { retryFailed, useLoaded } from "../api/Loaded.ts"
import { Problem } from "../frame/Dialog.tsx"
import { number } from "../frame/Figures.ts"
import { Message } from "../frame/Message.tsx"
import { useOlder } from "../frame/Older.tsx"
import { Page } from "../frame/Page.tsx"
import { Skeleton } from "../frame/Skeleton.tsx"
import { Tag } from "../frame/Tag.tsx"
import { Time } from "../frame/Time.tsx"

/** Lists the mail that was refused for a domain, with its reason and what to do. */
export const Refused = () => {
  const { params } = useRoute()
  const domainId = params.domainId ?? ""
  const ask = (options: { readonly cursor?: string; readonly signal?: AbortSignal }) => {
    const { cursor, ...rest } = options
    return call("GET /api/domains/{id}/refusals", { path: [domainId], query: { limit: 50, cursor }, ...rest })
  }
  const loaded = useLoaded(domainId, (signal) => ask({ signal }))
  const page = loaded.value.value
  return (
    <Page title="Refused mail">
      <Problem message={loaded.error.value} retry={retryFailed} />
      {page === undefined && loaded.error.value === undefined && <Skeleton lines={8} />}
      {page !== undefined && <List key={domainId} page={page} older={(cursor) => ask({ cursor })} />}
      <p class="note">
        Equal refusals within an hour share one line. Mail that is not here and not in the inbox never came to this
        service: ask the <a href="/console/trace">page "Where is my mail?"</a>
      </p>
    </Page>
  )
}

type RefusalPage = Awaited<ReturnType<typeof call<"GET /api/domains/{id}/refusals">>>

const entriesOf = ({ next_cursor, refusals }: RefusalPage) => ({ entries: refusals, cursor: next_cursor })

const List = ({
  older,
  page
}: {
  readonly page: RefusalPage
  readonly older: (cursor: string) => Promise<RefusalPage>
}) => {
  const { all, button } = useOlder(page, entriesOf, older)
  if (all.value.length === 0) return <p class="empty">Nothing was refused.</p>
  return (
    <>
      <ol class="refusals" aria-label="Refused mail">
        {all.value.map((refusal) => (
          <Item key={refusal.id} refusal={refusal} />
        ))}
      </ol>
      {button("Show more")}
    </>
  )
}

const Item = ({
  refusal: { count, first_at, from, last_at, reason, recipient, remedy, reply, subject }
}: {
  readonly refusal: Refusal
}) => (
  <li class="card">
    <p>
      <Tag tone="bad">{reason.replaceAll("_", " ")}</Tag>{" "}
      <b>{from === "" ? "no sender" : (from ?? "several senders")}</b> → {recipient ?? "several recipients"}{" "}
      {subject !== null && <span class="soft">{subject} </span>}
      <Time at={first_at} />
      {count > 1 && (
        <span class="soft">
          , {number(count)} times, last <Time at={last_at} />
        </span>
      )}
    </p>
    <p>
      <Message text={remedy} />
    </p>
    <p class="soft">{reply}</p>
  </li>
)
