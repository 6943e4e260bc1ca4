import { createHash } from "node:crypto"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, SqlSchema } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as Bugs from "../database/Bugs.ts"
import * as ExpiringRows from "../domains/ExpiringRows.ts"
import * as PlatformName from "../domains/PlatformName.ts"
import { type TooManyRequests, Unauthorized } from "../model/ApiError.ts"
import { DomainId, DomainName } from "../model/Domain.ts"
import * as Settings from "../Settings.ts"
import { ClientLimits } from "../workspaces/ClientLimits.ts"

/** Lifetime of a demo inbox. */
export const lifetimeSeconds = 24 * 60 * 60

const Token = Schema.String.check(Schema.isPattern(/^[\w-]{43}$/))

/** An inbox on the platform domain, opened by its cookie. */
const DemoInbox = Schema.Struct({ domainId: DomainId, domain: DomainName, secondsLeft: Schema.Finite })
export type DemoInbox = typeof DemoInbox.Type

/** Manages demo inboxes: without workspace and key, expiring after a day. */
export class DemoInboxes extends Context.Service<
  DemoInboxes,
  {
    /** The inbox of this cookie, or a new one with a new cookie, which counts toward the client's limit. */
    open(
      cookie: Redacted.Redacted | undefined,
      client: string
    ): Effect.Effect<
      { readonly inbox: DemoInbox; readonly newCookie: Redacted.Redacted | undefined },
      TooManyRequests | SqlError
    >
    session(cookie: Redacted.Redacted): Effect.Effect<DemoInbox, Unauthorized | SqlError>
  }
>()("inlet/demo/DemoInboxes") {
  static readonly layer = Layer.effect(
    DemoInboxes,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const random = yield* SecureRandom.SecureRandom
      const limits = yield* ClientLimits
      const platform = yield* Settings.platform

      const select = SqlSchema.findAll({
        Request: Schema.Uint8Array,
        Result: DemoInbox,
        execute: (hash) => sql`
          SELECT domains.id AS domain_id, domains.name AS domain,
            extract(epoch FROM expires_at - now())::float8 AS seconds_left
          FROM demo_sessions JOIN domains ON domains.id = demo_sessions.domain_id
          WHERE token_hash = ${hash} AND expires_at > now()
        `
      })

      const find = Effect.fnUntraced(function* (cookie: Redacted.Redacted) {
        const rows = Schema.is(Token)(Redacted.value(cookie)) ? yield* Bugs.die(select(hashOf(cookie))) : []
        return rows[0]
      })

      const make = Effect.gen(function* () {
        const domainId = DomainId.make(yield* random.uuidV7())
        const domain = yield* PlatformName.make(random, platform.domain)
        const newCookie = Redacted.make(Buffer.from(yield* random.randomBytes(32)).toString("base64url"))
        yield* sql`
          WITH made AS (
            ${ExpiringRows.insertDemo(sql, domainId, domain)}
          )
          INSERT INTO demo_sessions (token_hash, domain_id, expires_at)
          SELECT ${hashOf(newCookie)}, id, now() + make_interval(secs => ${lifetimeSeconds}) FROM made
        `
        return { inbox: { domainId, domain, secondsLeft: lifetimeSeconds }, newCookie }
      })

      const open = Effect.fn("DemoInboxes.open")(function* (cookie: Redacted.Redacted | undefined, client: string) {
        const inbox = cookie === undefined ? undefined : yield* find(cookie)
        return inbox === undefined ? yield* limits.within("demo inbox", client, make) : { inbox, newCookie: undefined }
      })

      const session = Effect.fn("DemoInboxes.session")(function* (cookie: Redacted.Redacted) {
        return (
          (yield* find(cookie)) ??
          (yield* new Unauthorized({
            message: `${
              Redacted.value(cookie) === "" ? "The cookie inlet_demo is missing" : "This demo inbox has expired"
            }. POST /api/demo/inbox creates a new inbox and sets its cookie`
          }))
        )
      })

      return DemoInboxes.of({ open, session })
    })
  )
}

// SHA-256 is enough: the cookie is 256 random bits, so it cannot be brute-forced.
const hashOf = (cookie: Redacted.Redacted) => createHash("sha256").update(Redacted.value(cookie)).digest()
