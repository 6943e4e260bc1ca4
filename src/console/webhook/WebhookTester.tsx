import { useSignal } from "@preact/signals"
import { call } from "../api/Api.ts"
import type { WebhookTestResult } from "../api/Contract.ts"
import { useAction } from "../frame/Action.ts"
import { announce } from "../frame/Announcer.ts"
import { CopyBlock } from "../frame/Copy.tsx"
import * as Curl from "../frame/Curl.ts"
import { Problem } from "../frame/Dialog.tsx"
import { millis } from "../frame/Figures.ts"
import { Tag } from "../frame/Tag.tsx"

/** Sends a sample event to the webhook, and shows its answer. */
export const WebhookTester = ({
  class: className = "card",
  path,
  url
}: {
  readonly class?: string
  /** The ids of the domain and the webhook. */
  readonly path: readonly [string, string]
  readonly url: string | undefined
}) => {
  const { error, isRunning, run } = useAction()
  const result = useSignal<WebhookTestResult | undefined>(undefined)
  const test = () =>
    run(async () => {
      result.value = await call("POST /api/domains/{id}/webhooks/{webhookId}/test", { path: [...path] })
      announce(result.value.ok ? "The webhook answered 2xx" : (result.value.error ?? "The test failed"))
    })
  const { value } = result
  return (
    <section class={className}>
      {className === "card" && <h2>Test</h2>}
      <p class="note">Posts a signed sample event now. Inlet does not store or retry it.</p>
      <div class="actions">
        <button type="button" class="primary" disabled={isRunning.value} onClick={() => void test()}>
          {isRunning.value ? "Waiting for the answer" : "Send a test"}
        </button>
      </div>
      <Problem message={error.value} />
      {value !== undefined && (
        <div class="test-result">
          <p>
            <Tag tone={value.ok ? "good" : "bad"}>{value.statusCode ?? "No answer"}</Tag> after{" "}
            {millis(value.durationMs)}
          </p>
          {value.error !== null && <p class="attempt-error">{value.error}</p>}
          {value.responseBody !== null && value.responseBody !== "" && (
            <pre class="mail-body">{value.responseBody}</pre>
          )}
          <details>
            <summary>Request</summary>
            <CopyBlock text={Curl.of(value.request, url)} what="request as curl" />
          </details>
        </div>
      )}
    </section>
  )
}
