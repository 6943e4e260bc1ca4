import { useSignal } from "@preact/signals"
import { call } from "../api/Api.ts"
import { useAction } from "../frame/Action.ts"
import { CopyLine } from "../frame/Copy.tsx"
import { Confirm } from "../frame/Dialog.tsx"

/** Replaces the signing secret of the workspace. */
export const SigningSecret = () => {
  const { error, isRunning, run } = useAction()
  const isAsking = useSignal(false)
  const secret = useSignal<string | undefined>(undefined)
  const rotate = () =>
    run(async () => {
      secret.value = (await call("POST /api/workspaces/rotate-secret")).webhook_signing_secret
      isAsking.value = false
    })
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
            <button
              type="button"
              onClick={() => {
                isAsking.value = true
              }}
            >
              Rotate the secret
            </button>
          </div>
        </>
      ) : (
        <>
          <p>Save it now. Inlet does not show it again.</p>
          <CopyLine text={secret.value} what="signing secret" />
        </>
      )}
      {isAsking.value && (
        <Confirm
          title="Rotate the signing secret?"
          verb="Rotate"
          isRunning={isRunning.value}
          error={error.value}
          onConfirm={() => void rotate()}
          onClose={() => {
            isAsking.value = false
          }}
        >
          <p>
            All webhooks without a secret of their own are signed with the new one. Give it to your apps within 24
            hours.
          </p>
        </Confirm>
      )}
    </section>
  )
}
