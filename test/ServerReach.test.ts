import { assert, describe, it } from "@effect/vitest"
import { beyondServer } from "./ServerReach.ts"

const beyond = beyondServer(new URL("../", import.meta.url))

describe("What no server makes a difference to", () => {
  it("is a test that knows neither the service nor a database", () => {
    assert.includeMembers([...beyond], ["test/mime/Mime.test.ts", "test/webhook.test.ts", "test/cli/package.test.ts"])
  })

  it("is a test of what speaks to the API alone, whose own tests are none", () => {
    assert.includeMembers([...beyond], ["test/cli/wait.test.ts", "test/browser/Demo.test.ts"])
    assert.notInclude(beyond, "test/http/EventList.test.ts")
  })

  it("is no test that has a database: by a layer, in a process, or in a program that it starts", () => {
    for (const file of [
      "test/delivery/DeliveryQueue.test.ts",
      "test/http/Event.test.ts",
      "test/flows/crash.test.ts",
      "test/delivery/EgressAlone.test.ts"
    ]) {
      assert.notInclude(beyond, file)
    }
  })

  it("is no test that is made for a server", () => {
    assert.deepStrictEqual(
      beyond.filter((file) => file.endsWith(".postgres.test.ts")),
      []
    )
  })
})
