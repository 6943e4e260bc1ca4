import type { Reporter, TestModule, Vitest } from "vitest/node"

const seconds = (module: TestModule) => {
  const { collectDuration, duration } = module.diagnostic()
  return (collectDuration + duration) / 1_000
}

const testsOf = (modules: ReadonlyArray<TestModule>) => modules.flatMap((module) => [...module.children.allTests()])

declare module "vitest" {
  interface TaskMeta {
    /** The error of the hook or file that prevented the test. Vitest omits such errors from the JSON report. */
    brokenBy?: string
  }
}

/** Adds the error of a failed hook or file to each test that it prevented. */
const markBroken = (modules: ReadonlyArray<TestModule>) => {
  for (const module of modules) {
    for (const suite of [module, ...module.children.allSuites()]) {
      const [error] = suite.errors()
      if (error === undefined) continue
      for (const test of suite.children.allTests()) {
        if (test.result().state !== "passed") test.meta().brokenBy ??= error.stack ?? error.message
      }
    }
  }
}

/**
 * Reports skipped tests with their missing requirements, and the slowest files, at the end of a run. Adds
 * errors of hooks to the JSON report.
 */
export const runReport = ({ slowest }: { readonly slowest: number }): Reporter => {
  let print = (_line: string) => {}
  return {
    onInit: ({ logger }: Vitest) => {
      print = (line) => logger.log(line)
    },
    onTestRunEnd: (modules) => {
      markBroken(modules)
      const leftOut = Map.groupBy(
        testsOf(modules).filter((test) => test.result().state === "skipped"),
        (test) => test.meta().leftOut
      )
      for (const [what, tests] of leftOut) {
        if (what !== undefined)
          print(`Skipped ${tests.length === 1 ? "a test that needs" : `${tests.length} tests that need`} ${what}`)
      }

      const bySeconds = modules.toSorted((one, other) => seconds(other) - seconds(one))
      if (slowest > 0) print(`The slowest of ${modules.length} files:`)
      for (const module of bySeconds.slice(0, slowest)) {
        print(`${seconds(module).toFixed(1).padStart(7)} s  ${module.relativeModuleId}`)
      }
    }
  }
}
