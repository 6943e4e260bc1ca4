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

/** How requests look: as events of Inlet, or as the receiver knows them from another provider. */
export const FormatChoice = ({
  current,
  format,
  isInline = false
}: {
  readonly format: Signal<string>
  /** May be one of the operator, which nothing lists. */
  readonly current: string
  readonly isInline?: boolean
}) => (
  <label class="format">
    <span class={isInline ? "visually-hidden" : ""}>Format</span>
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
)

/** The key that Inlet made for a format, to be set at the receiver. */
export const MadeKey = ({ signingKey }: { readonly signingKey: string | undefined }) =>
  signingKey === undefined ? null : (
    <>
      <p>Set this signing key at the receiver. Inlet does not show it again.</p>
      <CopyLine text={signingKey} what="signing key" />
    </>
  )
