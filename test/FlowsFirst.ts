import { BaseSequencer, type TestSpecification } from "vitest/node"

const isFlow = ({ moduleId }: TestSpecification) => moduleId.includes("/test/flows/")

/**
 * What spans the whole service takes longest, however short its file is. It
 * comes first, so that at the end no worker is alone with it.
 */
export class FlowsFirst extends BaseSequencer {
  override sort(files: Array<TestSpecification>) {
    return super.sort(files).then((sorted) => [...sorted.filter(isFlow), ...sorted.filter((file) => !isFlow(file))])
  }
}
