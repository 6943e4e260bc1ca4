import { useRoute } from "preact-iso"
import { call } from "../api/Api.ts"
import { retryFailed, useLoaded } from "../api/Loaded.ts"
import { isReadOnly } from "../api/Session.ts"
import { Problem } from "../frame/Dialog.tsx"
import { Page } from "../frame/Page.tsx"
import { Skeleton } from "../frame/Skeleton.tsx"
import { ReplayMany } from "./ReplayMany.tsx"
import { SigningSecret } from "./SigningSecret.tsx"
import { VerifyCode } from "./VerifyCode.tsx"
import { WebhookHealth } from "./WebhookHealth.tsx"
import { Webhooks } from "./Webhooks.tsx"
import { WebhookTester } from "./WebhookTester.tsx"
import { WebhookUrl } from "./WebhookUrl.tsx"

/** The webhooks of a domain: the health of the catch-all, all in their order, its URL, a test, and the code that verifies. */
export const Webhook = () => {
  const { params } = useRoute()
  const domainId = params.domainId ?? ""
  const domain = useLoaded(domainId, (signal) => call("GET /api/domains/{id}", { path: [domainId], signal }))
  const health = useLoaded(domainId, (signal) =>
    call("GET /api/domains/{id}/webhook/health", { path: [domainId], signal })
  )
  // The health card is above the others. If it loaded after them, it would push them down.
  const isHealthKnown = health.value.value !== undefined || health.error.value !== undefined
  const loaded = isHealthKnown ? domain.value.value : undefined
  const reload = async () => {
    await Promise.all([domain.reload(), health.reload()])
  }
  return (
    <Page title="Webhook">
      <Problem message={domain.error.value ?? health.error.value} retry={retryFailed} />
      {loaded === undefined && domain.error.value === undefined && <Skeleton lines={6} />}
      {loaded !== undefined && (
        <>
          {health.value.value !== undefined && (
            <WebhookHealth domain={loaded} health={health.value.value} onChange={reload} />
          )}
          <Webhooks domain={loaded} onChange={reload} />
          {!isReadOnly.value && (
            <>
              <WebhookUrl domain={loaded} onChange={reload} />
              {loaded.verified_at !== null && <ReplayMany domain={loaded} onChange={reload} />}
              {loaded.webhookUrl !== null && (
                <WebhookTester
                  key={`${loaded.webhookFormat} ${loaded.webhookUrl}`}
                  path={[loaded.id, loaded.id]}
                  url={loaded.webhookUrl}
                />
              )}
              <SigningSecret />
            </>
          )}
          <VerifyCode />
        </>
      )}
    </Page>
  )
}
