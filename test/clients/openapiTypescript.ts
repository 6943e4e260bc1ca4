import createClient from "openapi-fetch"
import type { paths } from "./schema"

/**
 * The tour with the client of openapi-typescript. The caller sends a mail to the address in the first line of output.
 */
const tour = async (baseUrl: string) => {
  const open = createClient<paths>({ baseUrl })
  const made = await open.POST("/api/workspaces", { body: { name: "openapi-typescript" } })
  if (made.data === undefined) throw new Error(made.error.error)
  const { api_key, workspace_id } = made.data
  const api = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${api_key}` } })

  const me = await api.GET("/api/workspace")
  if (me.data?.workspace_id !== workspace_id) throw new Error("another workspace")
  const most: number | null = me.data.limits.emails_per_day

  const inbox = await api.POST("/api/instant-inbox")
  if (inbox.data === undefined) throw new Error(inbox.error.error)
  const path = { id: inbox.data.domain_id }
  const marked = await api.GET("/api/domains/{id}/events", { params: { path, query: { limit: 1 } } })
  if (marked.data === undefined) throw new Error(marked.error.error)
  console.log(inbox.data.address)

  const query = { after: marked.data.cursor_now, wait: 30, order: "asc" as const }
  const waited = await api.GET("/api/domains/{id}/events", { params: { path, query } })
  const [event] = waited.data?.events ?? []
  if (event === undefined) throw new Error("no mail")
  const raw = await api.GET("/api/domains/{id}/events/{eventId}/raw", {
    params: { path: { ...path, eventId: event.event_id } },
    parseAs: "text"
  })
  const attempts = await api.GET("/api/domains/{id}/delivery-attempts", { params: { path } })
  const refused = await api.POST("/api/domains", { body: { domain: "localhost" } })
  const { data: removed, response } = await api.DELETE("/api/domains/{id}", { params: { path } })
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
      removed: removed === undefined ? response.status : "a body"
    })
  )
}

void tour(process.argv[2] ?? "")
