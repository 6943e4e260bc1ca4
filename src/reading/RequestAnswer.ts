import * as Content from "../content/html/Content.ts"
import * as SafeHtml from "../content/SafeHtml.ts"
import * as AuthenticationResults from "../sender/AuthenticationResults.ts"
import type { ContentTask, HeaderTask, PageTask, RequestResult } from "./ReadTask.ts"

/** Makes the answer for a client of the API that needs no parsed message. */
export const of = (task: ContentTask | PageTask | HeaderTask, message: Uint8Array): RequestResult => {
  if (task.kind === "page") return SafeHtml.pageOf(task.payload)
  if (task.kind === "header") return AuthenticationResults.putInHeader({ ...task, header: message })
  // Rendered by EventPayload, which writes these fields in every payload.
  const said = JSON.parse(task.payload) as Content.Said
  return Content.read(task.withHtml ? said : { ...said, html: null }, task.request)
}
