import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Array, Context, type Duration, Effect, Layer, Schema } from "effect"
import type { DomainName } from "../../model/Domain.ts"
import { type OrderId, RegistrarName } from "../../model/Order.ts"
import { DnsHost, type Text, type ZoneRecord } from "./DnsHost.ts"
import * as OpenproviderApi from "./OpenproviderApi.ts"
import { Registrar } from "./Registrar.ts"
import * as RegistrarCall from "./RegistrarCall.ts"

const ourName = RegistrarName.make("openprovider")

export interface Options extends OpenproviderApi.Credentials {
  /** The handle of the registrant, such as XX123456-XX. */
  readonly ownerHandle: string
  /** The name server group of new names, by default the vendor's. */
  readonly nsGroup: string | undefined
  /** Total timeout of a call, retries included. */
  readonly time?: Duration.Input
}

/** More names in one check cause an error. */
const mostNames = 15

const ownNameServers = "dns-openprovider"

export const layer = (options: Options) =>
  Layer.effectContext(
    Effect.gen(function* () {
      const api = yield* OpenproviderApi.make(options)
      const inTime = RegistrarCall.asRegistrar(ourName, options.time ?? "10 seconds")

      const check = (names: ReadonlyArray<Named>) =>
        Effect.map(
          api.repeatedly(
            OpenproviderApi.post("/domains/check", {
              domains: names.map(({ label, suffix }) => ({ name: label, extension: suffix })),
              with_price: true
            }),
            Checks
          ),
          ({ results }) => results
        )

      /** One unsupported extension fails the whole check, so each is then requested alone. */
      const checkEach = (names: ReadonlyArray<Named>) =>
        check(names).pipe(
          Effect.catchIf(isInvalidExtension, () =>
            Effect.map(
              Effect.forEach(
                Object.values(Array.groupBy(names, ({ suffix }) => suffix)),
                (some) => check(some).pipe(Effect.catchIf(isInvalidExtension, () => Effect.succeed([]))),
                { concurrency: 5 }
              ),
              Array.flatten
            )
          )
        )

      const quote = Effect.fnUntraced(function* (names: ReadonlyArray<DomainName>) {
        const sellable = names.flatMap((name): ReadonlyArray<Named> => {
          const found = RegistrarCall.isPlain(name) ? RegistrarCall.split(name) : undefined
          return found === undefined ? [] : [{ name, ...found }]
        })
        const checks = yield* Effect.forEach(Array.chunksOf(sellable, mostNames), checkEach, { concurrency: 2 })
        const cents = new Map(checks.flat().map((result) => [result.domain.toLowerCase(), centsForAYear(result)]))
        return new Map(
          sellable.flatMap(({ name }) => {
            const price = cents.get(name)
            return price === undefined ? [] : [[name, price] as const]
          })
        )
      })

      const holds = Effect.fnUntraced(function* (name: DomainName) {
        const { results } = yield* api.repeatedly(OpenproviderApi.get("/domains", { full_name: name }), Domains)
        const own = (results ?? []).filter(
          ({ domain, status }) => `${domain.name}.${domain.extension}`.toLowerCase() === name && !gone.has(status)
        )
        if (own.length > 0 && own.every(({ status }) => pending.has(status))) {
          return yield* RegistrarCall.accepted(notYet.message)
        }
        return own.length > 0
      })

      const register = Effect.fnUntraced(
        function* (name: DomainName, years: number, orderId: OrderId) {
          const { label, suffix } = yield* RegistrarCall.parts(name)
          const { status } = yield* api.once(
            OpenproviderApi.post("/domains", {
              domain: { name: label, extension: suffix },
              period: years,
              unit: "y",
              owner_handle: options.ownerHandle,
              admin_handle: options.ownerHandle,
              tech_handle: options.ownerHandle,
              billing_handle: options.ownerHandle,
              ns_group: options.nsGroup ?? ownNameServers,
              autorenew: "off",
              comments: `order ${orderId}`
            }),
            Registered
          )
          if (gone.has(status)) return yield* RegistrarCall.unclear(`it says that the name is ${status}`)
          if (pending.has(status)) return yield* notYet
        },
        (effect, name) => Effect.catchIf(effect, isTaken, () => RegistrarCall.whoHas(holds(name)))
      )

      /** `replace` sends the whole zone. A missing zone is created, by either of two concurrent calls. */
      const publish = Effect.fnUntraced(function* (name: DomainName, records: ReadonlyArray<ZoneRecord>) {
        const { label, suffix } = yield* RegistrarCall.parts(name)
        const rows = records.map(rowOf)
        const replace = api.repeatedly(
          OpenproviderApi.put(`/dns/zones/${name}`, { name, type: "master", records: { replace: rows } }),
          Success
        )
        const create = api.repeatedly(
          OpenproviderApi.post("/dns/zones", {
            domain: { name: label, extension: suffix },
            type: "master",
            records: rows
          }),
          Success
        )
        const { success } = yield* replace.pipe(
          Effect.catchIf(isNoZone, () => Effect.catchIf(create, isZoneThere, () => replace))
        )
        if (!success) return yield* RegistrarCall.unclear("it did not say that the records are set")
      })

      /** `add` and `remove` leave the other records. */
      const change = Effect.fnUntraced(function* (name: DomainName, how: "add" | "remove", text: Text) {
        const { success } = yield* api.repeatedly(
          OpenproviderApi.put(`/dns/zones/${name}`, {
            name,
            type: "master",
            records: { [how]: [rowOf({ type: "TXT", ...text })] }
          }),
          Success
        )
        if (!success) return yield* RegistrarCall.unclear("it did not say that the record is changed")
      })
      const addText = (name: DomainName, text: Text) =>
        Effect.catchIf(change(name, "add", text), isRecordThere, () => Effect.void)
      const removeText = (name: DomainName, text: Text) => change(name, "remove", text)

      const registrar = Registrar.of({
        name: ourName,
        quote: Effect.fn("RegistrarOpenprovider.quote")(quote, inTime),
        holds: Effect.fn("RegistrarOpenprovider.holds")(holds, inTime),
        register: Effect.fn("RegistrarOpenprovider.register")(
          ({ name, orderId, years }) => register(name, years, orderId),
          inTime
        )
      })
      const dnsHost = DnsHost.of({
        publish: Effect.fn("RegistrarOpenprovider.publish")(publish, inTime),
        texts: {
          add: Effect.fn("RegistrarOpenprovider.addText")(addText, inTime),
          remove: Effect.fn("RegistrarOpenprovider.removeText")(removeText, inTime)
        }
      })
      return Context.make(Registrar, registrar).pipe(Context.add(DnsHost, dnsHost))
    })
  ).pipe(Layer.provide(NodeHttpClient.layerUndici))

interface Named {
  readonly name: DomainName
  readonly label: string
  readonly suffix: string
}

const maybe = <S extends Schema.Top>(schema: S) => Schema.optional(Schema.NullOr(schema))

const Check = Schema.Struct({
  domain: Schema.String,
  status: Schema.String,
  is_premium: maybe(Schema.Boolean),
  premium: maybe(Schema.Struct({ price: maybe(Schema.Struct({ create: maybe(Schema.Finite) })) })),
  /** The cost is `reseller`, in the currency of the account. */
  price: maybe(Schema.Struct({ reseller: maybe(Schema.Struct({ price: Schema.Finite, currency: Schema.String })) }))
})

const Checks = Schema.Struct({ results: Schema.Array(Check) })

/** Undefined unless available, standard and sold in dollars. */
const centsForAYear = ({ is_premium, premium, price, status }: typeof Check.Type): number | undefined => {
  const own = price?.reseller
  if (status !== "free" || is_premium === true || (premium?.price?.create ?? 0) > 0) return undefined
  if (own?.currency !== "USD" || own.price <= 0) return undefined
  return RegistrarCall.centsOf(own.price)
}

const Domains = Schema.Struct({
  results: maybe(
    Schema.Array(
      Schema.Struct({
        domain: Schema.Struct({ name: Schema.String, extension: Schema.String }),
        status: Schema.String
      })
    )
  )
})

const Registered = Schema.Struct({ status: Schema.String })

const Success = Schema.Struct({ success: Schema.Boolean })

/** Deleted and failed. */
const gone: ReadonlySet<string> = new Set(["DEL", "FAI"])

/** Requested, pending and scheduled. The registry may still refuse, so the name is not held yet. */
const pending: ReadonlySet<string> = new Set(["REQ", "PEN", "SCH"])

const notYet = RegistrarCall.unclear("the registry has not registered the name yet")

const saying = (...codes: ReadonlyArray<string>) => {
  const known = new Set<string | null>(codes)
  return ({ code }: RegistrarCall.VendorFailure) => known.has(code)
}

/** "Your domain request contains an invalid extension!" */
const isInvalidExtension = saying("307")

/** "The domain you want to register is not free!", "already in your account", "duplicate domain". */
const isTaken = saying("311", "326", "346")

/** "Unknown DNS zone", "Zone specified is not found." */
const isNoZone = saying("800", "872")

/** "A zone already exists for this domain" */
const isZoneThere = saying("805")

/** "Duplicate record" */
const isRecordThere = saying("817")

const rowOf = (record: ZoneRecord) => ({
  type: record.type,
  name: record.name === "@" ? "" : record.name,
  value: record.type === "TXT" ? `"${record.value}"` : record.value,
  ttl: RegistrarCall.ttl,
  ...(record.type === "MX" ? { prio: record.priority } : {})
})
