import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestInlet } from "./TestInlet.ts"

/** A workspace with `count` domains: `1.many.example`, added first and the only one that takes mail, `2.many.example`, … */
export const workspaceWith = Effect.fnUntraced(function* (count: number) {
  const inlet = yield* TestInlet
  const sql = yield* SqlClient.SqlClient
  const { key } = yield* inlet.workspace
  const { json } = yield* inlet.call("GET", "/api/workspace", { key })
  const name = `${json.workspace_id.slice(-6)}.many.example`
  yield* sql`
    INSERT INTO domains (id, workspace_id, name, origin, status, verified_at, txt_value)
    SELECT ('01900000-0000-7000-8000-' || lpad(to_hex(number), 4, '0') || right(${json.workspace_id}, 8))::uuid,
      ${json.workspace_id}::uuid, number || '.' || ${name}, 'byo',
      CASE number WHEN 1 THEN 'mx_pending' ELSE 'pending_verification' END,
      CASE number WHEN 1 THEN now() END, 'service_verify_x'
    FROM generate_series(1, ${count}::int) AS number
  `
  return { key, workspaceId: json.workspace_id as string, name }
})
