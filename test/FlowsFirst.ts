import { BaseSequencer, type TestSpecification } from "vitest/node"

const isFlow = ({ moduleId }: TestSpecification) => moduleId.includes("/test/flows/")

/** Runs the files of test/flows first. They take the longest, and this keeps all workers busy until the end. */
export class FlowsFirst extends BaseSequencer {
  override sort(files: Array<TestSpecification>) {
    return super.sort(files).then((sorted) => [...sorted.filter(isFlow), ...sorted.filter((file) => !isFlow(file))])
  }
}
