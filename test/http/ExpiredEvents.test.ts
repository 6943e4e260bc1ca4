import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Mailbox from "../Mailbox.ts"
import { TestInlet } from "../TestInlet.ts"

/** An event id of 16 days before the time of this one. */
const agedBy16Days = (id: string) => {
  const millis = Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16) - 16 * 86_400_000
  const hex = millis.toString(16).padStart(12, "0")
  return `${hex.slice(0, 8)}-${hex.slice(8)}${id.slice(13)}`
}

layer(TestInlet.layer({ RETENTION_DAYS: "14" }), { excludeTestServices: true })(
  "An event that retention removed",
  (it) => {
    const mailed = Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      yield* inlet.send({ to: inbox.address })
      const [event] = yield* Mailbox.accepted(inbox)
      return { ...inbox, eventId: event.event_id, expired: agedBy16Days(event.event_id) }
    })

    it.effect("is 404 with its reason everywhere, unlike one that never was", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { domainId, eventId, expired, key } = yield* mailed
        const at = `/api/domains/${domainId}/events`
        const unknown = `${eventId.slice(0, -4)}0000`
        for (const path of ["", "/raw", "/content", "/html", "/signed", "/attachments/0"]) {
          const { json, status } = yield* inlet.call("GET", `${at}/${expired}${path}`, { key })
          assert.strictEqual(status, 404, path)
          assert.strictEqual(json.error, "This event is removed: mail is kept for 14 days, and its id is older", path)
          const other = yield* inlet.call("GET", `${at}/${unknown}${path}`, { key })
          assert.match(other.json.error, /^No event with this id at this domain/, path)
        }
        const replay = yield* inlet.call("POST", `${at}/${expired}/replay`, { key })
        assert.match(replay.json.error, /^This event is removed/)
        assert.match((yield* inlet.call("GET", `/api/events/${expired}`, { key })).json.error, /^This event is removed/)
        const missing = yield* inlet.call("GET", `/api/events/${unknown}`, { key })
        assert.match(missing.json.error, /^No event with this id in this workspace/)
      })
    )

    it.effect("is a place before all that is stored, for lists, waits and streams that went on after it", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { domainId, eventId, expired, key } = yield* mailed
        const at = `/api/domains/${domainId}/events`
        for (const query of [`after=${expired}`, `after=${expired}&wait=5`]) {
          const { json, status } = yield* inlet.call("GET", `${at}?${query}`, { key })
          assert.deepStrictEqual(
            [status, json.events.map((event: { readonly event_id: string }) => event.event_id)],
            [200, [eventId]]
          )
        }
        const recent = yield* inlet.call("GET", `${at}?after=${eventId.slice(0, -4)}0000`, { key })
        assert.strictEqual(recent.status, 400)
      })
    )

    it.effect("is found without its domain while it is stored, by keys that may see it", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const sql = yield* SqlClient.SqlClient
        const { domainId, eventId, key } = yield* mailed
        const { json: known } = yield* inlet.call("GET", `/api/domains/${domainId}/events/${eventId}`, { key })
        const found = yield* inlet.call("GET", `/api/events/${eventId}`, { key })
        assert.deepStrictEqual(found.json, { ...known, domain_id: domainId })
        const other = yield* inlet.workspace
        assert.strictEqual((yield* inlet.call("GET", `/api/events/${eventId}`, { key: other.key })).status, 404)
        const limited = yield* inlet.call("POST", "/api/workspaces/keys", {
          key,
          body: { scope: "read", pattern: "x" }
        })
        const unseen = yield* inlet.call("GET", `/api/events/${eventId}`, { key: limited.json.api_key })
        assert.strictEqual(unseen.status, 404)
        yield* sql`DELETE FROM inbound_emails WHERE domain_id = ${domainId}`
        assert.strictEqual((yield* inlet.call("GET", `/api/events/${eventId}`, { key })).status, 404)
      })
    )
  }
)
