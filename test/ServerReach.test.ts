import { assert, describe, it } from "@effect/vitest"
import { beyondServer } from "./ServerReach.ts"

const beyond = beyondServer(new URL("../", import.meta.url))

describe("The tests that a PostgreSQL server cannot change", () => {
  it("include a test without the service and without a database", () => {
    assert.includeMembers([...beyond], ["test/mime/Mime.test.ts", "test/webhook.test.ts", "test/cli/package.test.ts"])
  })

  it("include tests that use the service only through its API", () => {
    assert.includeMembers([...beyond], ["test/cli/wait.test.ts", "test/browser/Demo.test.ts"])
    assert.notInclude(beyond, "test/http/EventList.test.ts")
  })

  it("exclude every test with a database: in a layer, a process or a started program", () => {
    for (const file of [
      "test/delivery/DeliveryQueue.test.ts",
      "test/http/Event.test.ts",
      "test/flows/crash.test.ts",
      "test/delivery/EgressAlone.test.ts"
    ]) {
      assert.notInclude(beyond, file)
    }
  })

  it("exclude tests written for a server", () => {
    assert.deepStrictEqual(
      beyond.filter((file) => file.endsWith(".postgres.test.ts")),
      []
    )
  })
})
