import { BaseSequencer, type TestSpecification } from "vitest/node"

const isFlow = ({ moduleId }: TestSpecification) => moduleId.includes("/test/flows/")

/**
 * Runs the files of test/flows first, because they take the longest. Of the others a large file and a small one take
 * turns: large ones mostly wait for a service, and small ones use the processor meanwhile.
 */
export class FlowsFirst extends BaseSequencer {
  override sort(files: Array<TestSpecification>) {
    return super.sort(files).then((sorted) => {
      const others = sorted.filter((file) => !isFlow(file))
      const half = Math.ceil(others.length / 2)
      const small = others.slice(half).reverse()
      return [
        ...sorted.filter(isFlow),
        ...others.slice(0, half).flatMap((large, at) => [large, ...small.slice(at, at + 1)])
      ]
    })
  }
}
