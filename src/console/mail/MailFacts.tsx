import { urlOf } from "../api/Api.ts"
import type { ListedEvent } from "../api/Contract.ts"
import { CopyButton } from "../frame/Copy.tsx"
import { bytes } from "../frame/Figures.ts"
import { ExactTime } from "../frame/Time.tsx"
import { Fact } from "./Fact.tsx"
import { KindFacts } from "./KindFacts.tsx"
import { SpamVerdict } from "./SpamVerdict.tsx"
import { Verdicts } from "./Verdicts.tsx"

/** The server that sent the mail, and whether a relay named it. */
const cameFrom = ({ helo, relayed, remoteAddress }: ListedEvent["envelope"]) => {
  if (remoteAddress === "simulate") return ", simulated"
  if (remoteAddress === "") return ", from a relay that did not name the server"
  return `, from ${remoteAddress} (${helo})${relayed === true ? ", as the relay says" : ""}`
}

/** The kind of an event of an earlier version, which has only its sender. */
const kindOfOlder = (sender: ListedEvent["sender"]): ListedEvent["kind"] => {
  switch (sender) {
    case "bounce":
      return { type: "bounce", recipients: [], originalMessageId: null }
    case "auto":
    case "list":
      return { type: "bulk" }
    default:
      return undefined
  }
}

/** Lists the code, links, sender checks, envelope and attachments of a mail. */
export const MailFacts = ({ domainId, event }: { readonly domainId: string; readonly event: ListedEvent }) => {
  const { code = null, links = [], unsubscribe = null } = event.extracted ?? {}
  const place = [domainId, event.event_id]
  return (
    <dl class="facts">
      {code !== null && (
        <Fact name="Code">
          <code class="big-code">{code.value}</code> <CopyButton text={code.value} what="code" />
          {code.confidence === "low" && <span class="soft"> a guess</span>}
        </Fact>
      )}
      {links.map(({ kind, text, url }) => (
        <Fact key={url} name={`Link (${kind})`}>
          {text !== "" && <bdi>{text}: </bdi>}
          {/* A stranger's link can be read and copied, not followed. */}
          <code class="url">{url}</code> <CopyButton text={url} what="link" />
        </Fact>
      ))}
      {unsubscribe !== null && (
        <Fact name="Unsubscribe">
          <code class="url">{unsubscribe.url ?? unsubscribe.mailto}</code>
        </Fact>
      )}
      <KindFacts kind={event.kind ?? kindOfOlder(event.sender)} />
      <Fact name="Sender checks">
        <Verdicts authentication={event.authentication} />
      </Fact>
      {event.spam !== undefined && (
        <Fact name="Mail scanner">
          <SpamVerdict spam={event.spam} />
        </Fact>
      )}
      <Fact name="Received">
        <ExactTime at={event.receivedAt} />
        {cameFrom(event.envelope)}
      </Fact>
      {event.parse !== "full" && (
        <Fact name="Parsed">
          {event.parse === "partial" ? "in part, because the message is damaged or too complex" : "by its headers only"}
        </Fact>
      )}
      {event.attachments.map(({ contentType, filename, index, size }) => (
        <Fact key={index} name="Attachment">
          <a
            download
            href={urlOf("/api/domains/{id}/events/{eventId}/attachments/{index}", { path: [...place, `${index}`] })}
          >
            <bdi>{filename ?? "(no name)"}</bdi>
          </a>
          , {contentType}, {bytes(size)}
        </Fact>
      ))}
      <Fact name="Raw message">
        <a download href={urlOf("/api/domains/{id}/events/{eventId}/raw", { path: place })}>
          Download .eml
        </a>
      </Fact>
    </dl>
  )
}
