import { useSignal } from "@preact/signals"
import { call } from "../api/Api.ts"
import { ConfirmedButton } from "../frame/ConfirmedButton.tsx"
import { CopyLine } from "../frame/Copy.tsx"

/** Replaces the signing secret of the workspace. */
export const SigningSecret = () => {
  const secret = useSignal<string | undefined>(undefined)
  const rotate = async () => {
    secret.value = (await call("POST /api/workspaces/rotate-secret")).webhook_signing_secret
  }
  return (
    <section class="card">
      <h2>Signing secret</h2>
      {secret.value === undefined ? (
        <>
          <p class="note">
            Signs every webhook of this workspace without a secret of its own. After a rotation requests carry
            signatures of both secrets for 24 hours.
          </p>
          <div class="actions">
            <ConfirmedButton label="Rotate the secret" title="Rotate the signing secret?" verb="Rotate" work={rotate}>
              All webhooks without a secret of their own are signed with the new one. Give it to your apps within 24
              hours.
            </ConfirmedButton>
          </div>
        </>
      ) : (
        <>
          <p>Save it now. Inlet does not show it again.</p>
          <CopyLine text={secret.value} what="signing secret" />
        </>
      )}
    </section>
  )
}
