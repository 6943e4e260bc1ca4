import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Array, Cache, Context, Duration, Effect, Exit, Layer, Schema } from "effect"
import type { DomainName } from "../../model/Domain.ts"
import { RegistrarName } from "../../model/Order.ts"
import * as VendorXml from "../vendor/VendorXml.ts"
import { DnsHost } from "./DnsHost.ts"
import * as NamecheapApi from "./NamecheapApi.ts"
import * as NamecheapZone from "./NamecheapZone.ts"
import { Registrar } from "./Registrar.ts"
import * as RegistrarCall from "./RegistrarCall.ts"

const ourName = RegistrarName.make("namecheap")

/** The registrant. The phone number has the form +NNN.NNNNNNNNNN. */
export interface Contact {
  readonly firstName: string
  readonly lastName: string
  readonly address: string
  readonly city: string
  readonly state: string
  readonly postalCode: string
  readonly country: string
  readonly phone: string
  readonly email: string
}

export interface Options extends NamecheapApi.Credentials {
  readonly contact: Contact
  /** Total timeout of a call, retries included. */
  readonly time?: Duration.Input
}

/** Maximum names of a domains.check call. */
const mostNames = 50

/** The vendor asks to cache prices, and allows 50 calls a minute. */
const pricesKept = Duration.hours(1)

export const layer = (options: Options) =>
  Layer.effectContext(
    Effect.gen(function* () {
      const api = yield* NamecheapApi.make(options)
      const zone = NamecheapZone.make(api)
      const inTime = RegistrarCall.asRegistrar(ourName, options.time ?? "10 seconds")

      /** The cost of a year under a TLD in cents, fees included, by the years of the term. Empty if it is not sold in dollars. */
      const prices = yield* Cache.makeWith(
        Effect.fnUntraced(
          function* (tld: string) {
            const answer = yield* api.repeatedly("namecheap.users.getPricing", {
              ProductType: "DOMAIN",
              ActionName: "REGISTER",
              ProductName: tld
            })
            const products = VendorXml.at(answer, "UserGetPricingResult", "ProductType", "ProductCategory")
              .filter(({ attributes }) => attributes.Name?.toLowerCase() === "register")
              .flatMap((category) => VendorXml.at(category, "Product"))
              .filter(({ attributes }) => attributes.Name?.toLowerCase() === tld)
            const rows = yield* Effect.forEach(
              products.flatMap((product) => VendorXml.at(product, "Price")),
              NamecheapApi.attributes(Price)
            )
            // The first row of a term counts.
            return new Map(rows.flatMap(centsForAYear).toReversed())
          },
          Effect.catchIf(isOfParameters, () => Effect.succeed<ReadonlyMap<number, number>>(new Map()))
        ),
        { capacity: 2_000, timeToLive: (exit) => (Exit.isSuccess(exit) ? pricesKept : Duration.zero) }
      )

      const priced = Effect.fnUntraced(function* (names: ReadonlyArray<DomainName>, years: number) {
        const sellable = names.flatMap((name) => {
          const found = RegistrarCall.isPlain(name) ? RegistrarCall.split(name) : undefined
          return found === undefined ? [] : [{ name, tld: found.suffix }]
        })
        const tlds = Array.dedupe(sellable.map(({ tld }) => tld))
        const asked = yield* Effect.forEach(
          tlds,
          (tld) => Effect.map(Cache.get(prices, tld), (cents) => [tld, ofTerm(cents, years)] as const),
          { concurrency: 5 }
        )
        const byTld = new Map(asked)
        return sellable.flatMap(({ name, tld }) => {
          const cents = byTld.get(tld)
          return cents === undefined ? [] : [[name, cents] as const]
        })
      })

      const free = Effect.fnUntraced(function* (names: ReadonlyArray<DomainName>) {
        const answers = yield* Effect.forEach(
          Array.chunksOf(names, mostNames),
          (some) => api.repeatedly("namecheap.domains.check", { DomainList: some.join(",") }),
          { concurrency: 2 }
        )
        const checks = yield* Effect.forEach(
          answers.flatMap((answer) => VendorXml.at(answer, "DomainCheckResult")),
          NamecheapApi.attributes(Check)
        )
        return new Set(checks.filter(isOrdinary).map(({ Domain }) => Domain.toLowerCase()))
      })

      const holds = Effect.fnUntraced(
        function* (name: DomainName) {
          const answer = yield* api.repeatedly("namecheap.domains.getInfo", { DomainName: name })
          const info = yield* Effect.flatMap(
            NamecheapApi.only(answer, "DomainGetInfoResult"),
            NamecheapApi.attributes(Info)
          )
          return info.IsOwner && info.Status.toLowerCase() !== "expired"
        },
        Effect.catchIf(isOfAnother, () => Effect.succeed(false))
      )

      const register = Effect.fnUntraced(
        function* (name: DomainName, years: number) {
          const answer = yield* api.once("namecheap.domains.create", {
            DomainName: name,
            Years: String(years),
            AddFreeWhoisguard: "yes",
            WGEnabled: "yes",
            ...contactParameters(options.contact)
          })
          const { ChargedAmount, NonRealTimeDomain, Registered } = yield* Effect.flatMap(
            NamecheapApi.only(answer, "DomainCreateResult"),
            NamecheapApi.attributes(Created)
          )
          if (NonRealTimeDomain === true && (RegistrarCall.centsOf(ChargedAmount || "0") ?? 0) > 0) {
            return yield* RegistrarCall.accepted("it took the order, and the registry has not registered the name yet")
          }
          if (!Registered) return yield* RegistrarCall.unclear("it did not say that the name is registered")
        },
        (effect, name) => Effect.catchIf(effect, isTaken, () => RegistrarCall.whoHas(holds(name)))
      )

      const registrar = Registrar.of({
        name: ourName,
        quote: Effect.fn("RegistrarNamecheap.quote")(function* (names, years) {
          const offered = yield* priced(names, years)
          const available = yield* free(offered.map(([name]) => name))
          return new Map(offered.filter(([name]) => available.has(name)))
        }, inTime),
        holds: Effect.fn("RegistrarNamecheap.holds")(holds, inTime),
        register: Effect.fn("RegistrarNamecheap.register")(({ name, years }) => register(name, years), inTime)
      })
      const dnsHost = DnsHost.of({
        publish: Effect.fn("RegistrarNamecheap.publish")(zone.publish, inTime),
        texts: {
          add: Effect.fn("RegistrarNamecheap.addText")(zone.addText, inTime),
          remove: Effect.fn("RegistrarNamecheap.removeText")(zone.removeText, inTime)
        }
      })
      return Context.make(Registrar, registrar).pipe(Context.add(DnsHost, dnsHost))
    })
  ).pipe(Layer.provide(NodeHttpClient.layerUndici))

/** The price of a year in a term. One without a row has the highest price, never that of a cheap first year. */
const ofTerm = (byYears: ReadonlyMap<number, number>, years: number): number | undefined =>
  byYears.get(years) ?? (byYears.size === 0 ? undefined : Math.max(...byYears.values()))

const Price = Schema.Struct({
  Duration: Schema.String,
  DurationType: Schema.String,
  YourPrice: Schema.optional(Schema.String),
  /** `ABSOLUTE` for a price of the whole term. Otherwise it is that of a year. */
  PricingType: Schema.optional(Schema.String),
  /** The additional ICANN fee, in the spelling of the API. */
  YourAdditonalCost: Schema.optional(Schema.String),
  Currency: Schema.String
})

const centsForAYear = (price: typeof Price.Type): ReadonlyArray<readonly [years: number, cents: number]> => {
  if (!/^\d{1,2}$/.test(price.Duration) || price.DurationType !== "YEAR" || price.Currency !== "USD") return []
  const years = Number(price.Duration)
  const asked = RegistrarCall.centsOf(price.YourPrice ?? "")
  const fee = RegistrarCall.centsOf(price.YourAdditonalCost || "0")
  if (years === 0 || asked === undefined || asked === 0 || fee === undefined) return []
  const cents = price.PricingType?.toUpperCase() === "ABSOLUTE" ? Math.ceil(asked / years) : asked
  return [[years, cents + fee]]
}

const Check = Schema.Struct({
  Domain: Schema.String,
  Available: NamecheapApi.Flag,
  ErrorNo: Schema.optional(Schema.String),
  IsPremiumName: Schema.optional(NamecheapApi.Flag),
  /** A new TLD's early access fee. */
  EapFee: Schema.optional(Schema.String)
})

/** Available at the standard price. */
const isOrdinary = ({ Available, EapFee, ErrorNo, IsPremiumName }: typeof Check.Type) =>
  Available &&
  IsPremiumName !== true &&
  (ErrorNo === undefined || ErrorNo === "" || ErrorNo === "0") &&
  RegistrarCall.centsOf(EapFee || "0") === 0

const Info = Schema.Struct({ Status: Schema.String, IsOwner: NamecheapApi.Flag })

const Created = Schema.Struct({
  Registered: NamecheapApi.Flag,
  ChargedAmount: Schema.optional(Schema.String),
  /** True if the registry registers the name later, provided that the order was charged. */
  NonRealTimeDomain: Schema.optional(NamecheapApi.Flag)
})

const isTaken = ({ code }: RegistrarCall.VendorFailure) => code !== null && NamecheapApi.takenCodes.has(code)

/** "Domain not found" and "not associated with your account". */
const isOfAnother = ({ code }: RegistrarCall.VendorFailure) => code === "2019166" || code === "2016166"

/** A rejected parameter, such as an unknown product. The credentials are valid. */
const isOfParameters = ({ code, kind }: RegistrarCall.VendorFailure) =>
  kind === "refused" && code?.startsWith("2") === true

/** The same contact in every role of domains.create. */
const contactParameters = (contact: Contact): Readonly<Record<string, string>> =>
  Object.fromEntries(
    ["Registrant", "Tech", "Admin", "AuxBilling"].flatMap((role) => [
      [`${role}FirstName`, contact.firstName],
      [`${role}LastName`, contact.lastName],
      [`${role}Address1`, contact.address],
      [`${role}City`, contact.city],
      [`${role}StateProvince`, contact.state],
      [`${role}PostalCode`, contact.postalCode],
      [`${role}Country`, contact.country],
      [`${role}Phone`, contact.phone],
      [`${role}EmailAddress`, contact.email]
    ])
  )
