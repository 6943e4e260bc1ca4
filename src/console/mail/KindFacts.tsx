import type { ListedEvent } from "../api/Contract.ts"
import { Fact } from "./Fact.tsx"

type Kind = NonNullable<ListedEvent["kind"]>

const names = {
  person: "a person's mail",
  auto_reply: "an automatic reply",
  bounce: "a bounce: a delivery failed",
  dmarc_report: "a DMARC report",
  tls_report: "a TLS report",
  list: "mail of a mailing list",
  bulk: "a newsletter or notice",
  calendar: "a calendar mail"
} as const

/** The kind of a mail with what its sender tells, in words. Nothing for the mail of a person. */
export const KindFacts = ({ kind }: { readonly kind: Kind | undefined }) =>
  kind === undefined || kind.type === "person" ? null : (
    <>
      <Fact name="Kind">{names[kind.type]}</Fact>
      <Details kind={kind} />
    </>
  )

const Details = ({ kind }: { readonly kind: Kind }) => {
  switch (kind.type) {
    case "bounce":
      return kind.recipients.map(({ action, address, diagnostic, status }) => (
        <Fact key={`${address} ${status}`} name="Recipient">
          <bdi>{address}</bdi>: {[action, status].filter((text) => text !== null).join(", ") || "no status"}
          {diagnostic !== null && <div class="soft">{diagnostic}</div>}
        </Fact>
      ))
    case "calendar":
      return (
        <>
          <Fact name="Calendar">
            {kind.method}
            {kind.reply !== null && `, ${kind.reply}`}: <bdi>{kind.summary ?? "(no title)"}</bdi>
          </Fact>
          {kind.start !== null && (
            <Fact name="Time">
              {kind.start.local.replace("T", " ")}
              {kind.end !== null && ` – ${kind.end.local.replace("T", " ")}`}
              {kind.start.zone !== null && ` (${kind.start.zone})`}
            </Fact>
          )}
          {kind.organizer !== null && (
            <Fact name="Organizer">
              {kind.organizer.name !== null && `${kind.organizer.name} `}
              {kind.organizer.address}
            </Fact>
          )}
        </>
      )
    case "dmarc_report":
    case "tls_report":
      return kind.domain === null ? null : (
        <Fact name="Report">
          {kind.domain}
          {kind.submitter !== null && `, by ${kind.submitter}`}
        </Fact>
      )
    case "list":
      return kind.listId === null ? null : <Fact name="List">{kind.listId}</Fact>
    default:
      return null
  }
}
