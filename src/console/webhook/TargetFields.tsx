import type { Signal } from "@preact/signals"
import { CopyLine } from "../frame/Copy.tsx"

const formats = [
  ["inlet", "Signed event (JSON)"],
  ["raw", "The message itself"],
  ["mailgun", "As Mailgun"],
  ["postmark", "As Postmark"],
  ["sendgrid", "As SendGrid"],
  ["sendgrid-raw", "As SendGrid, with the message"],
  ["mandrill", "As Mandrill"]
] as const

/** Where requests go, and how they look: as events of Inlet, or as the receiver knows them from another provider. */
export const TargetFields = ({
  current,
  format,
  isInline = false,
  url
}: {
  readonly url: Signal<string>
  readonly format: Signal<string>
  /** The format now. May be one of the operator, which nothing lists. */
  readonly current: string
  readonly isInline?: boolean
}) => (
  <>
    <label>
      {isInline ? <span class="visually-hidden">Webhook URL</span> : "URL"}
      <input
        type="url"
        required
        placeholder="https://app.example/inbound"
        value={url.value}
        onInput={({ currentTarget }) => {
          url.value = currentTarget.value
        }}
      />
    </label>
    <label class="format">
      {isInline ? <span class="visually-hidden">Format</span> : "Format"}
      <select
        value={format.value}
        onChange={({ currentTarget }) => {
          format.value = currentTarget.value
        }}
      >
        {formats.every(([name]) => name !== current) && <option value={current}>{current}</option>}
        {formats.map(([name, words]) => (
          <option key={name} value={name}>
            {words}
          </option>
        ))}
      </select>
    </label>
  </>
)

/** The key that Inlet made for a format, to be set at the receiver. */
export const MadeKey = ({ signingKey }: { readonly signingKey: string | undefined }) =>
  signingKey === undefined ? null : (
    <>
      <p>Set this signing key at the receiver. Inlet does not show it again.</p>
      <CopyLine text={signingKey} what="signing key" />
    </>
  )
