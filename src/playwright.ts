// @effect-diagnostics asyncFunction:off processEnv:off
// The entry `inlet-mail/playwright`. Playwright is the suite's own package. Fixtures are async functions, and the
// suite's settings are in its environment.
import { test as base } from "@playwright/test"
import { type Inbox, Inlet, type InletOptions } from "./client.ts"

/** For `use` in playwright.config.ts. */
export interface InletUse {
  /**
   * Overrides INLET_URL and INLET_API_KEY, and names the domain of the inboxes if the workspace has several. Put the
   * key into the environment, because Playwright writes `use` into its JSON report.
   */
  readonly inletOptions: Partial<InletOptions> & { readonly domain?: string | undefined }
}

export interface InletFixtures {
  /** An address for this test. Its waits time out before the test, to report the mail that arrived. */
  readonly inbox: Inbox
}

export interface InletWorkerFixtures {
  /** The API client, shared by all tests of a worker. */
  readonly inlet: Inlet
}

/** Milliseconds of a test's time that are reserved for its last wait to end and to be reported, also on a busy machine. */
const marginOf = (timeout: number) => Math.max(1_500, timeout / 8)

/** Playwright's `test` with the fixtures `inbox` and `inlet`. `mergeTests` combines it with others. */
export const test = base.extend<InletFixtures, InletUse & InletWorkerFixtures>({
  inletOptions: [{}, { scope: "worker", option: true }],
  inlet: [
    async ({ inletOptions }, use) => {
      const { INLET_API_KEY, INLET_URL } = process.env
      const { apiKey = INLET_API_KEY, timeout, url = INLET_URL } = inletOptions
      if (!apiKey || !url) {
        throw new TypeError("Set INLET_URL and INLET_API_KEY: the URL of the service, and the key of a workspace")
      }
      await use(new Inlet({ url, apiKey, timeout }))
    },
    { scope: "worker" }
  ],
  inbox: async ({ inlet, inletOptions }, use, testInfo) => {
    const began = performance.now()
    const over = new AbortController()
    const patience = inletOptions.timeout ?? 20_000
    const left = () =>
      testInfo.timeout === 0 ? patience : began + testInfo.timeout - marginOf(testInfo.timeout) - performance.now()
    await use(
      await inlet.inbox({
        domain: inletOptions.domain,
        timeout: () => Math.max(1, Math.min(patience, left())),
        signal: over.signal
      })
    )
    over.abort()
  }
})

export { expect } from "@playwright/test"
