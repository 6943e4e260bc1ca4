import {
  domainsCreate,
  domainsInstantInbox,
  domainsRemove,
  eventsDeliveryAttempts,
  eventsList,
  eventsRaw,
  workspacesCreate,
  workspacesGet
} from "./hey"
import { client } from "./hey/client.gen"

/** The tour with the client of openapi-ts. The caller sends a mail to the address in the first line of output. */
const tour = async (baseUrl: string) => {
  client.setConfig({ baseUrl })
  const made = await workspacesCreate({ body: { name: "openapi-ts" } })
  if (made.data === undefined) throw new Error(made.error.error)
  const { api_key, workspace_id } = made.data
  client.setConfig({ auth: api_key })

  const me = await workspacesGet()
  if (me.data?.workspace_id !== workspace_id) throw new Error("another workspace")
  const most: number | null = me.data.limits.emails_per_day

  const inbox = await domainsInstantInbox()
  if (inbox.data === undefined) throw new Error(inbox.error.error)
  const path = { id: inbox.data.domain_id }
  const marked = await eventsList({ path, query: { limit: 1 } })
  if (marked.data === undefined) throw new Error(marked.error.error)
  console.log(inbox.data.address)

  const waited = await eventsList({ path, query: { after: marked.data.cursor_now, wait: 30, order: "asc" } })
  const [event] = waited.data?.events ?? []
  if (event === undefined) throw new Error("no mail")
  const raw = await eventsRaw({ path: { ...path, eventId: event.event_id }, parseAs: "text" })
  const attempts = await eventsDeliveryAttempts({ path })
  const refused = await domainsCreate({ body: { domain: "localhost" } })
  const removed = await domainsRemove({ path })
  console.log(
    JSON.stringify({
      subject: event.subject,
      fromName: event.fromName,
      // Of the two list views, `full` contains the delivery.
      delivery: typeof event.delivery === "object" ? event.delivery.status : event.delivery,
      most,
      isRaw: `${raw.data}`.includes("Subject: "),
      attempts: attempts.data?.deliveryAttempts.length,
      refused: refused.error?.error,
      removed: removed.error === undefined ? removed.response?.status : "an error"
    })
  )
}

void tour(process.argv[2] ?? "")
