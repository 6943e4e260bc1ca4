import { useSignal } from "@preact/signals"
import { call, messageOf } from "../api/Api.ts"
import type { ListedEvent } from "../api/Contract.ts"

/** The text of a mail, its new part, and on request the words that its HTML hides. */
export const MailText = ({ domainId, event }: { readonly domainId: string; readonly event: ListedEvent }) => (
  <>
    {typeof event.reply === "string" ? (
      <>
        <pre class="mail-body" dir="auto">
          {event.reply}
        </pre>
        <details>
          <summary>Whole text, with quotation and signature</summary>
          <pre class="mail-body" dir="auto">
            {event.text}
          </pre>
        </details>
      </>
    ) : (
      <pre class="mail-body" dir="auto">
        {event.text || "(no text)"}
      </pre>
    )}
    {event.hiddenTextVerdict === "uncertain" && (
      <p class="note">
        Some words may be hidden from a person who reads the HTML, because Inlet does not evaluate their style. The
        content of the API marks them.
      </p>
    )}
    {event.textMatchesHtml === false && (
      <p class="note">The plain text has other words than the HTML. A person who reads this mail sees the HTML.</p>
    )}
    {event.hiddenText === true && <HiddenWords domainId={domainId} eventId={event.event_id} />}
  </>
)

const HiddenWords = ({ domainId, eventId }: { readonly domainId: string; readonly eventId: string }) => {
  const words = useSignal<string | undefined>(undefined)
  const load = async () => {
    try {
      const { content } = await call("GET /api/domains/{id}/events/{eventId}/content", {
        path: [domainId, eventId],
        query: { part: "hidden", max_chars: 20_000 }
      })
      words.value = content
    } catch (error) {
      words.value = messageOf(error)
    }
  }
  return (
    <details
      onToggle={({ currentTarget }) => {
        if (currentTarget.open && words.value === undefined) void load()
      }}
    >
      <summary>Hidden words of the HTML</summary>
      <p class="note">
        A person who reads this mail does not see these words, so Inlet leaves them out of the text. Senders hide
        preview lines this way, and attackers hide orders to agents.
      </p>
      <pre class="mail-body" dir="auto">
        {words.value ?? "Loading…"}
      </pre>
    </details>
  )
}
