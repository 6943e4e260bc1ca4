import { call } from "../api/Api.ts"
import type { Domain } from "../api/Contract.ts"
import { isReadOnly, state } from "../api/Session.ts"
import { useAction } from "../frame/Action.ts"
import { CopyLine } from "../frame/Copy.tsx"
import { Problem } from "../frame/Dialog.tsx"

/** Guides a new workspace: an address, a first mail, a webhook. Each step turns green by itself. */
export const FirstSteps = ({ domain, hasMail }: { readonly domain: Domain; readonly hasMail: boolean }) => {
  const { error, isRunning, run } = useAction()
  const address = `inbox@${domain.domain}`
  const takesMail = domain.verified_at !== null
  const smtp = state.value?.smtp ?? null
  const steps = [
    {
      title: "Get an address",
      isDone: takesMail,
      body: takesMail ? (
        <>
          <CopyLine text={address} what="address" />
          <p class="note">
            {domain.catch_all === "reject"
              ? `Inlet answers 550 to mail for ${domain.domain} that no webhook takes.`
              : `Every local part of ${domain.domain} works.`}
          </p>
        </>
      ) : (
        <p>
          <a href={`/console/domains/${domain.id}`}>Publish the records of {domain.domain}</a>, or create an instant
          inbox on the page <a href="/console/domains">Domains</a>.
        </p>
      )
    },
    {
      title: "Send a mail",
      isDone: hasMail,
      body: (
        <>
          {!isReadOnly.value && (
            <button
              type="button"
              class="primary"
              disabled={!takesMail || isRunning.value}
              onClick={() =>
                void run(() => call("POST /api/domains/{id}/simulate", { path: [domain.id], body: { sample: "code" } }))
              }
            >
              Send a sample mail
            </button>
          )}
          <p class="note">Or send one with your mail client{smtp === null ? "." : " or from this machine:"}</p>
          {smtp !== null && (
            <CopyLine
              text={`swaks --server ${smtp} --to ${address} --from ada@sender.example --header "Subject: Hello"`}
              what="command"
            />
          )}
          <Problem message={error.value} />
        </>
      )
    },
    {
      title: "Add a webhook",
      isDone: domain.webhookUrl !== null || domain.pull,
      body: (
        <p>
          Inlet posts each mail to your app as signed JSON.{" "}
          <a href={`/console/d/${domain.id}/webhook`}>Set the webhook</a>
        </p>
      )
    }
  ]
  return (
    <ol class="first-steps" aria-label="First steps">
      {steps.map(({ body, isDone, title }) => (
        <li key={title} data-done={isDone}>
          <h2>
            <span class="step-mark" aria-hidden="true">
              {isDone ? "✓" : ""}
            </span>
            {title}
            {isDone && <span class="visually-hidden"> (done)</span>}
          </h2>
          {body}
        </li>
      ))}
    </ol>
  )
}
