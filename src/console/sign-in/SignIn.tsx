import { signal, useSignal } from "@preact/signals"
import { useLocation, useRoute } from "preact-iso"
import { call } from "../api/Api.ts"
import type { Answers } from "../api/Contract.ts"
import { hasEnded, isOperator, refreshDomains, signIn, state } from "../api/Session.ts"
import { useAction } from "../frame/Action.ts"
import { CopyLine } from "../frame/Copy.tsx"
import { Problem } from "../frame/Dialog.tsx"
import { Page } from "../frame/Page.tsx"

type Created = Answers["POST /api/workspaces"]

/** The token of the link that opened this page. It is used after a click, so that no other page signs in. */
const link = signal<string | undefined>(undefined)

/** Takes the token of a link out of the address at once. */
const takeLink = () => {
  const token = /^#link=([\w-]+)$/.exec(location.hash)?.[1]
  if (token === undefined) return
  history.replaceState(null, "", `${location.pathname}${location.search}`)
  link.value = token
}
takeLink()
// A link that is opened in a tab with this page changes the hash and loads nothing.
addEventListener("hashchange", takeLink)

/** The page of the console to go to after a sign-in. */
const targetOf = (query: Readonly<Record<string, string>>): string =>
  query.to?.startsWith("/console/") === true ? query.to : "/console"

/** The page without a session: opens one with a key or a link, or creates a workspace. */
export const SignIn = () => {
  const { query } = useRoute()
  const { route } = useLocation()
  const { error, isRunning, run } = useAction()
  const key = useSignal("")
  const created = useSignal<Created | undefined>(undefined)

  const enter = (credential: Parameters<typeof signIn>[0]) =>
    run(async () => {
      const isOperator = await signIn(credential)
      link.value = undefined
      route(isOperator && query.to === undefined ? "/console/operator" : targetOf(query))
    })

  if (created.value !== undefined) return <NewSecrets created={created.value} />
  return (
    <Page title="Sign in">
      {hasEnded.value && (
        <p class="note" role="status">
          Your session has ended: it was signed out, its key no longer works, or it was idle for 12 hours. Sign in
          again.
        </p>
      )}
      {link.value !== undefined && (
        <section class="card narrow">
          <h2>With your link</h2>
          {state.value?.workspace != null && <p>You leave the workspace {state.value.workspace.name}.</p>}
          <button
            type="button"
            class="primary"
            disabled={isRunning.value}
            onClick={() => link.value !== undefined && void enter({ link: link.value })}
          >
            Sign in with this link
          </button>
        </section>
      )}
      <section class="card narrow">
        <h2>With a key</h2>
        <form
          onSubmit={(event) => {
            event.preventDefault()
            void enter({ key: key.value })
          }}
        >
          <label>
            API key, read key or the operator's token
            <input
              type="password"
              autocomplete="off"
              required
              value={key.value}
              placeholder="ak_live_…"
              onInput={({ currentTarget }) => {
                key.value = currentTarget.value
              }}
            />
          </label>
          <button type="submit" class="primary" disabled={isRunning.value}>
            Sign in
          </button>
        </form>
        <p class="note">
          If <code>inlet</code> knows your key, <code>inlet console</code> prints a link that signs you in.
        </p>
        {state.value?.workspace_creation === "admin" && !isOperator.value && (
          <p class="note">This service is private. Its operator creates workspaces and gives you a key.</p>
        )}
        <Problem message={error.value} />
      </section>
      {(state.value?.workspace_creation === "open" || isOperator.value) && (
        <NewWorkspace
          onCreated={(made) => {
            created.value = made
          }}
        />
      )}
    </Page>
  )
}

const NewWorkspace = ({ onCreated }: { readonly onCreated: (created: Created) => void }) => {
  const { error, isRunning, run } = useAction()
  const name = useSignal("My workspace")
  return (
    <section class="card narrow">
      <h2>New here?</h2>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void run(async () => onCreated(await call("POST /api/workspaces", { body: { name: name.value } })))
        }}
      >
        <label>
          Name, visible only to you
          <input
            required
            maxLength={100}
            value={name.value}
            onInput={({ currentTarget }) => {
              name.value = currentTarget.value
            }}
          />
        </label>
        <button type="submit" disabled={isRunning.value}>
          Create a workspace
        </button>
      </form>
      <Problem message={error.value} />
    </section>
  )
}

/** Shows the key and the secret of a new workspace, which the service does not show again. */
const NewSecrets = ({ created }: { readonly created: Created }) => {
  const { route } = useLocation()
  const { error, isRunning, run } = useAction()
  const enter = async () => {
    await signIn({ key: created.api_key })
    // A workspace begins with an address that needs no DNS.
    const { domain_id } = await call("POST /api/instant-inbox")
    await refreshDomains()
    route(`/console/d/${domain_id}/inbox`)
  }
  return (
    <Page title="Your workspace">
      <section class="card narrow">
        <p>Save both now. Inlet stores only a hash of the key, and shows neither again.</p>
        <h2>API key</h2>
        <CopyLine text={created.api_key} what="API key" />
        <h2>Webhook signing secret</h2>
        <CopyLine text={created.webhook_signing_secret} what="signing secret" />
        <Problem message={error.value} />
        <button type="button" class="primary" disabled={isRunning.value} onClick={() => void run(enter)}>
          I saved them, open the inbox
        </button>
      </section>
    </Page>
  )
}
