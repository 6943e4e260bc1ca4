import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { DomainName } from "../../model/Domain.ts"
import { RegistrarName } from "../../model/Order.ts"
import * as Settings from "../../Settings.ts"
import { DnsHost } from "./DnsHost.ts"
import { NameTaken, Registrar, RegistrarError, Uncertain } from "./Registrar.ts"

const ourName = RegistrarName.make("mock")

/** Its world is the database, so without it there is no answer. */
const uncertain = ({ message }: SqlError) =>
  new RegistrarError({ registrar: ourName, reason: new Uncertain({ message }) })

/** Wholesale cents for a year. Other TLDs cost as much as .io. */
const prices: Readonly<Record<string, number>> = { com: 999, net: 1_099, org: 1_049, dev: 1_299, io: 3_499, test: 500 }

const priceOf = (name: DomainName) => prices[name.slice(name.indexOf(".") + 1)] ?? 3_499

/** Reserved TLDs without real owners (RFC 6761). */
const isReserved = (name: DomainName) => /\.(test|example|invalid)$/.test(name)

/**
 * Sells every name once and stores it in the database. Names that start with `taken` belong to another owner. Its
 * names are verified without real DNS, so in production it sells only reserved names.
 */
const registrar = Layer.effect(
  Registrar,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const production = yield* Settings.production
    const sells = (name: DomainName) => !name.startsWith("taken") && (isReserved(name) || !production)

    const sold = (names: ReadonlyArray<DomainName>) =>
      sql<{ readonly name: DomainName }>`SELECT name FROM mock_registrations WHERE name = ANY(${names}::text[])`.pipe(
        Effect.mapError(uncertain),
        Effect.map((rows) => new Set(rows.map(({ name }) => name)))
      )

    return Registrar.of({
      name: ourName,
      quote: Effect.fn("RegistrarMock.quote")(function* (names) {
        const gone = yield* sold(names)
        return new Map(names.filter((name) => !gone.has(name) && sells(name)).map((name) => [name, priceOf(name)]))
      }),
      holds: Effect.fn("RegistrarMock.holds")((name) => Effect.map(sold([name]), (names) => names.has(name))),
      register: Effect.fn("RegistrarMock.register")(function* ({ name, orderId, years }) {
        const inserted = yield* sql`
          INSERT INTO mock_registrations (name, order_id, years)
          SELECT ${name}, ${orderId}::uuid, ${years}::int WHERE ${name} NOT LIKE 'taken%'
          ON CONFLICT DO NOTHING
          RETURNING name
        `.pipe(Effect.mapError(uncertain))
        if (inserted.length === 0) return yield* new RegistrarError({ registrar: ourName, reason: new NameTaken() })
      })
    })
  })
)

/** The zone is a table that the service's resolver answers from (MockZone). */
export const zones = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return DnsHost.of({
    publish: Effect.fn("RegistrarMock.publish")(function* (domain, records) {
      yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`DELETE FROM mock_zone_records WHERE domain = ${domain}`
          for (const record of records) {
            yield* sql`
                INSERT INTO mock_zone_records (domain, name, type, priority, value)
                VALUES (
                  ${domain}, ${record.name === "@" ? domain : `${record.name}.${domain}`}, ${record.type},
                  ${record.type === "MX" ? record.priority : null}, ${record.value}
                )
              `
          }
        })
      )
    }, Effect.mapError(uncertain)),
    texts: {
      add: Effect.fn("RegistrarMock.addText")(function* (domain, { name, value }) {
        yield* sql`
          INSERT INTO mock_zone_records (domain, name, type, priority, value)
          SELECT ${domain}, ${`${name}.${domain}`}, 'TXT', NULL, ${value}
          WHERE NOT EXISTS (
            SELECT FROM mock_zone_records WHERE name = ${`${name}.${domain}`} AND type = 'TXT' AND value = ${value}
          )
        `
      }, Effect.mapError(uncertain)),
      remove: Effect.fn("RegistrarMock.removeText")(function* (domain, { name, value }) {
        yield* sql`
          DELETE FROM mock_zone_records
          WHERE domain = ${domain} AND name = ${`${name}.${domain}`} AND type = 'TXT' AND value = ${value}
        `
      }, Effect.mapError(uncertain))
    }
  })
})

export const layer = Layer.merge(registrar, Layer.effect(DnsHost, zones))
