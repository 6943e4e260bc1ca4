import { useSignal } from "@preact/signals"
import { CopyBlock } from "../frame/Copy.tsx"
import { languages } from "./Languages.ts"

/** Code that verifies a webhook request, in six languages. */
export const VerifyCode = () => {
  const chosen = useSignal(0)
  const language = languages[chosen.value]
  return (
    <section class="card">
      <h2>Verify requests</h2>
      <p class="note">
        Each reads the secret from <code>INLET_WEBHOOK_SECRET</code>, and takes the raw body and the request's headers.
        Answer 2xx once the event is stored, and deduplicate on <code>event_id</code>. Requests in a format other than
        Inlet's are checked as their provider says.
      </p>
      <label class="switch">
        <span class="visually-hidden">Language</span>
        <select
          value={chosen.value}
          onChange={({ currentTarget }) => {
            chosen.value = Number(currentTarget.value)
          }}
        >
          {languages.map(({ name }, index) => (
            <option key={name} value={index}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {language !== undefined && <CopyBlock text={language.code} what={`${language.name} code`} />}
    </section>
  )
}
