import { assert, describe, it } from "@effect/vitest"
import * as Mark from "../../src/events/Mark.ts"
import * as WorkspaceMark from "../../src/events/WorkspaceMark.ts"
import { DomainId } from "../../src/model/Domain.ts"
import { WorkspaceId } from "../../src/model/Workspace.ts"

const domainId = DomainId.make("01981c9e-0000-7000-8000-000000000001")
const workspaceId = WorkspaceId.make("01981c9e-0000-7000-8000-000000000002")
const last = 2n ** 63n - 1n

describe("A mark", () => {
  it("is what it was made of, in its own domain or workspace", () => {
    for (const position of [0n, 1n, last]) {
      const mark = { kind: "desc", position } as const
      assert.deepStrictEqual(Mark.decode(domainId, Mark.encode(domainId, mark)), mark)
      const place = { domainId, position, time: -1n }
      assert.deepStrictEqual(WorkspaceMark.decode(workspaceId, WorkspaceMark.encode(workspaceId, place)), place)
    }
    const foreign = Mark.encode(DomainId.make(workspaceId), { kind: "now", position: 1n })
    assert.isUndefined(Mark.decode(domainId, foreign))
  })

  it("beyond the positions of Postgres is none", () => {
    for (const position of [last + 1n, 2n ** 64n - 1n]) {
      assert.isUndefined(Mark.decode(domainId, Mark.encode(domainId, { kind: "asc", position })))
      const place = { domainId, position, time: 0n }
      assert.isUndefined(WorkspaceMark.decode(workspaceId, WorkspaceMark.encode(workspaceId, place)))
    }
  })
})
