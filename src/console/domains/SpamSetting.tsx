import { call } from "../api/Api.ts"
import type { Domain } from "../api/Contract.ts"
import { isReadOnly } from "../api/Session.ts"
import { useAction } from "../frame/Action.ts"
import { announce } from "../frame/Announcer.ts"
import { Problem } from "../frame/Dialog.tsx"

const meanings = {
  tag: "Deliver it with its verdict",
  hold: "Hold it until it is released"
} as const

const isAction = (value: string): value is keyof typeof meanings => Object.hasOwn(meanings, value)

/** What becomes of mail that the scanner calls spam or a virus. */
export const SpamSetting = ({
  domain: { domain, id, spam },
  onChange
}: {
  readonly domain: Pick<Domain, "domain" | "id" | "spam">
  readonly onChange: () => Promise<void>
}) => {
  const { error, isRunning, run } = useAction()
  const set = (value: string) =>
    run(async () => {
      if (!isAction(value)) return
      await call("PATCH /api/domains/{id}", { path: [id], body: { spam: value } })
      announce(value === "hold" ? `Spam to ${domain} is held` : `Spam to ${domain} is delivered with its verdict`)
      await onChange()
    })
  return (
    <section class="card">
      <h2>Spam and viruses</h2>
      <p class="note">
        If this service has a mail scanner, each mail shows its verdict. Mail that could not be scanned is delivered.
      </p>
      <label class="switch">
        A bad verdict{" "}
        <select
          value={spam}
          disabled={isReadOnly.value || isRunning.value}
          onChange={({ currentTarget }) => void set(currentTarget.value)}
        >
          {Object.entries(meanings).map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      </label>
      <Problem message={error.value} />
    </section>
  )
}
