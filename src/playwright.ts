// @effect-diagnostics asyncFunction:off processEnv:off
// What a suite of Playwright imports, as `inlet-mail/playwright`; Playwright is the suite's own. Its fixtures are async
// functions, and what a suite is told stands in its environment.
import { test as base } from "@playwright/test"
import { type Inbox, Inlet, type InletOptions } from "./client.ts"

/** For `use` in playwright.config.ts. */
export interface InletUse {
  /**
   * What is not as INLET_URL and INLET_API_KEY say, and the domain of the inboxes where the workspace has several. A
   * key is better in the environment: Playwright writes all of `use` into its JSON report.
   */
  readonly inletOptions: Partial<InletOptions> & { readonly domain?: string | undefined }
}

export interface InletFixtures {
  /** An address of this test alone. Its waits end before the test's own time does, to say what came. */
  readonly inbox: Inbox
}

export interface InletWorkerFixtures {
  /** The API; one for all tests of a worker. */
  readonly inlet: Inlet
}

/** Milliseconds of a test's time that are left to an error for being told. */
const margin = 1_500

/** Playwright's `test` with the fixtures `inbox` and `inlet`; `mergeTests` puts it together with others. */
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
    const left = () => (testInfo.timeout === 0 ? patience : began + testInfo.timeout - margin - performance.now())
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
