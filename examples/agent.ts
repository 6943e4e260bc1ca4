// @effect-diagnostics asyncFunction:off
// Four tasks of an agent with its mail over MCP, with the official client and without a model.
// Install the client first: npm install @modelcontextprotocol/client
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"

/** The tools of an instance, and all text that a model would have read. */
export const connect = async (url: string, key: string) => {
  const client = new Client({ name: "example", version: "1.0.0" })
  const headers = { authorization: `Bearer ${key}` }
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", url), { requestInit: { headers } }))
  const read: Array<{ readonly tool: string; readonly call: string; readonly answer: string }> = []

  const call = async <Answer>(tool: string, given: Record<string, unknown> = {}): Promise<Answer> => {
    const { content, isError } = await client.callTool({ name: tool, arguments: given })
    const answer = content.map((part) => (part.type === "text" ? part.text : "")).join("")
    read.push({ tool, call: JSON.stringify(given), answer })
    // An error with the next step, which a model can follow.
    if (isError === true) throw new Error(answer)
    return JSON.parse(answer)
  }
  return { call, read, close: () => client.close() }
}

export type Agent = Awaited<ReturnType<typeof connect>>

interface Mail {
  readonly event_id: string
  readonly from: string
  readonly dmarc: string
  readonly subject: string
  readonly sender?: "person" | "list" | "auto" | "bounce"
  readonly code?: string
  readonly link?: { readonly kind: string; readonly url?: string }
}

interface Mails {
  readonly mails: ReadonlyArray<Mail>
  readonly next_cursor?: string | null
}

interface Piece {
  readonly content: string
  readonly next_offset: number | null
}

/** An unused address. Every local part of the domain accepts mail. */
const addressFor = async ({ call }: Agent, site: string): Promise<string> => {
  const { inboxes } = await call<{ readonly inboxes: ReadonlyArray<{ readonly domain: string }> }>("get_inboxes")
  const [inbox] = inboxes
  if (inbox === undefined) throw new Error("There is no inbox yet")
  return `${site}-${crypto.randomUUID().slice(0, 8)}@${inbox.domain}`
}

/** Signs up at a site that sends a code. */
export const signUpWithCode = async (agent: Agent, site: string, signUp: (address: string) => Promise<void>) => {
  const to = await addressFor(agent, site)
  await signUp(to)
  const { code } = await agent.call<{ readonly code?: string }>("wait_for_code", { to })
  return code
}

/** Signs up at a site that sends a link. */
export const signUpWithLink = async (agent: Agent, site: string, signUp: (address: string) => Promise<void>) => {
  const to = await addressFor(agent, site)
  await signUp(to)
  const { mails } = await agent.call<Mails>("wait_for_mail", { to, has: "link" })
  return mails[0]?.link?.url
}

/** Sorts the mail, and reads only mail from people. */
export const triage = async ({ call }: Agent) => {
  const sorted = { answer: [] as Array<string>, code: [] as Array<string>, later: [] as Array<string> }
  let cursor: string | null | undefined
  do {
    const page: Mails = await call<Mails>("list_mail", { limit: 25, ...(cursor === undefined ? {} : { cursor }) })
    for (const { code, event_id, sender } of page.mails) {
      if (code !== undefined) sorted.code.push(event_id)
      else if (sender !== "person") sorted.later.push(event_id)
      else {
        const { content } = await call<Piece>("read_mail", { event_id, max_chars: 300 })
        sorted[/[?]/.test(content) ? "answer" : "later"].push(event_id)
      }
    }
    cursor = page.next_cursor
  } while (typeof cursor === "string")
  return sorted
}

/** Reads a mail of any length to its end, in slices. */
export const readWhole = async ({ call }: Agent, event_id: string): Promise<string> => {
  let text = ""
  let offset: number | null = 0
  while (offset !== null) {
    const piece: Piece = await call<Piece>("read_mail", { event_id, offset })
    text += piece.content
    offset = piece.next_offset
  }
  return text
}
