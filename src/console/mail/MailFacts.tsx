import type { ComponentChildren } from "preact"
import { urlOf } from "../api/Api.ts"
import type { ListedEvent } from "../api/Contract.ts"
import { CopyButton } from "../frame/Copy.tsx"
import { bytes } from "../frame/Figures.ts"
import { ExactTime } from "../frame/Time.tsx"
import { Verdicts } from "./Verdicts.tsx"

const senders = {
  person: "a person",
  list: "a list or newsletter",
  auto: "a program",
  bounce: "a mail server: a delivery failed"
} as const

const Fact = ({ children, name }: { readonly name: string; readonly children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd dir="auto">{children}</dd>
  </div>
)

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
      {event.sender !== undefined && event.sender !== "person" && (
        <Fact name="Written by">{senders[event.sender]}</Fact>
      )}
      <Fact name="Sender checks">
        <Verdicts authentication={event.authentication} />
      </Fact>
      <Fact name="Received">
        <ExactTime at={event.receivedAt} />
        {event.envelope.remoteAddress === "simulate"
          ? ", simulated"
          : `, from ${event.envelope.remoteAddress} (${event.envelope.helo})`}
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
