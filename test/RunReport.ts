import type { Reporter, TestModule, Vitest } from "vitest/node"

const seconds = (module: TestModule) => {
  const { collectDuration, duration } = module.diagnostic()
  return (collectDuration + duration) / 1_000
}

const testsOf = (modules: ReadonlyArray<TestModule>) => modules.flatMap((module) => [...module.children.allTests()])

/** Reports skipped tests with their missing requirements, and the slowest files, at the end of a run. */
export const runReport = ({ slowest }: { readonly slowest: number }): Reporter => {
  let print = (_line: string) => {}
  return {
    onInit: ({ logger }: Vitest) => {
      print = (line) => logger.log(line)
    },
    onTestRunEnd: (modules) => {
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
