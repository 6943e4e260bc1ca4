import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Makes an event older. */
export const age = Effect.fnUntraced(function* (eventId: string, seconds: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    UPDATE events SET
      received_at = received_at - make_interval(secs => ${seconds}),
      read_at = read_at - make_interval(secs => ${seconds}),
      payload = replace(
        payload, payload::jsonb ->> 'receivedAt',
        to_char((received_at - make_interval(secs => ${seconds})) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
      )
    WHERE id = ${eventId}
  `
})
