import { createHash } from "node:crypto"
import { Context, Effect, Layer, Schema } from "effect"
import { parse as parseSuffix } from "tldts"
import { canonical, isWithin } from "../domains/DomainNames.ts"
import { Invalid } from "../model/ApiError.ts"
import * as Cents from "../model/Cents.ts"
import { DomainName } from "../model/Domain.ts"
import { RegistrarName } from "../model/Order.ts"
import { Registrars } from "../providers/registrar/Registrars.ts"
import * as Settings from "../Settings.ts"

const defaultTlds = ["com", "net", "org", "io", "dev"]
const mostTlds = 20

/** Stripe's maximum payment, $999,999.99. Names above it for the longest term are not sold. */
const mostCents = 99_999_999
const mostYears = 10

/** The timeout of a quote, so that an answer takes at most 5 s. */
const quoteTime = "4800 millis"

/** The best offer for one name for one year. Prices are null without a quote. */
export const SearchResult = Schema.Struct({
  domain: DomainName,
  available: Schema.Boolean,
  price_cents: Schema.NullOr(Schema.Int),
  price: Schema.NullOr(Schema.String),
  currency: Schema.Literal("USD"),
  registrar: Schema.NullOr(RegistrarName),
  years: Schema.Literal(1)
}).annotate({ identifier: "SearchResult" })
export type SearchResult = typeof SearchResult.Type

/** A registrar's price for one year of a term, without the markup. */
export interface Offer {
  readonly registrar: RegistrarName
  readonly wholesaleCents: number
}

/** Searches available names with their prices. */
export class Search extends Context.Service<
  Search,
  {
    /** Endpoint 6: `q` is a label or a name, `tlds` a comma-separated list. One result for each candidate, in order. */
    search(q: string, tlds: string | undefined): Effect.Effect<ReadonlyArray<SearchResult>, Invalid>
    /**
     * Every offer for a name and a term, cheapest first. REGISTRAR_PRIMARY wins ties. `answered` counts the registrars of the
     * TLD that answered, and `silent` lists the others.
     */
    offers(
      name: DomainName,
      years: number
    ): Effect.Effect<{
      readonly offers: ReadonlyArray<Offer>
      readonly answered: number
      readonly silent: ReadonlyArray<RegistrarName>
    }>
    /** Checks whether a registrar sells this TLD by quoting an unregistered domain. True without an answer. */
    sellsTldOf(name: DomainName): Effect.Effect<boolean>
    /** The customer's price: all years plus the flat markup. */
    priceCents(offer: Offer, years: number): number
  }
>()("inlet/purchase/Search") {
  static readonly layer = Layer.effect(
    Search,
    Effect.gen(function* () {
      const registrars = yield* Registrars
      const { markupCents, tldMap } = yield* Settings.purchase
      const platform = yield* Settings.platform

      const sells = (registrar: RegistrarName, name: DomainName) => {
        // Belongs to this service.
        if (isWithin(name, platform.domain)) return false
        const tld = name.slice(name.indexOf(".") + 1)
        const only = tldMap.filter((route) => route.tld === tld)
        return only.length === 0 || only.some((route) => route.registrar === registrar)
      }

      /** The quotes of every registrar within the timeout. */
      const quotes = Effect.fnUntraced(function* (names: ReadonlyArray<DomainName>, years = 1) {
        return yield* Effect.forEach(
          registrars,
          ([registrar, vendor]) => {
            const own = names.filter((name) => sells(registrar, name))
            const none: ReadonlyMap<DomainName, number> = new Map()
            if (own.length === 0) return Effect.succeed({ registrar, asked: own, answered: true, prices: none })
            return vendor.registrar.quote(own, years).pipe(
              Effect.timeout(quoteTime),
              Effect.map((prices) => ({ registrar, asked: own, answered: true, prices })),
              Effect.catch((error) =>
                Effect.as(Effect.logWarning(`${registrar} did not quote and is left out`, error), {
                  registrar,
                  asked: own,
                  answered: false,
                  prices: none
                })
              )
            )
          },
          { concurrency: "unbounded" }
        )
      })

      const priceCents = ({ wholesaleCents }: Offer, years: number) => wholesaleCents * years + markupCents
      const isPayable = (offer: Offer) => priceCents(offer, 1) > 0 && priceCents(offer, mostYears) <= mostCents

      const cheapestFirst = (name: DomainName, all: Effect.Success<ReturnType<typeof quotes>>) =>
        all
          .flatMap(({ prices, registrar }): ReadonlyArray<Offer> => {
            const wholesaleCents = prices.get(name)
            return wholesaleCents === undefined ? [] : [{ registrar, wholesaleCents }]
          })
          .filter(isPayable)
          // The primary registrar comes first, and sorting is stable for ties.
          .toSorted((a, b) => a.wholesaleCents - b.wholesaleCents)

      const search = Effect.fn("Search.search")(function* (q: string, tlds: string | undefined) {
        const names = yield* candidates(q, tlds)
        const all = yield* quotes(names)
        return names.map((domain): SearchResult => {
          const [best] = cheapestFirst(domain, all)
          const price = best === undefined ? null : priceCents(best, 1)
          return {
            domain,
            available: best !== undefined,
            price_cents: price,
            price: price === null ? null : Cents.decimal(price),
            currency: "USD",
            registrar: best?.registrar ?? null,
            years: 1
          }
        })
      })

      const offers = Effect.fn("Search.offers")(function* (name: DomainName, years: number) {
        const all = (yield* quotes([name], years)).filter(({ asked }) => asked.length > 0)
        const silent = all.filter(({ answered }) => !answered).map(({ registrar }) => registrar)
        return { offers: cheapestFirst(name, all), answered: all.length - silent.length, silent }
      })

      const sellsTldOf = Effect.fn("Search.sellsTldOf")(function* (name: DomainName) {
        const label = createHash("sha256").update(name).digest("hex").slice(0, 40)
        const all = yield* quotes([DomainName.make(`${label}${name.slice(name.indexOf("."))}`)])
        return all.some(({ answered, prices }) => !answered || prices.size > 0)
      })

      return Search.of({ search, offers, sellsTldOf, priceCents })
    })
  )
}

/** The names of a search. A full name stands for itself, and its label for the requested TLDs. */
const candidates = Effect.fnUntraced(function* (q: string, tlds: string | undefined) {
  const asked = (tlds ?? "")
    .split(",")
    .map((tld) => tld.trim().toLowerCase().replace(/^\./, ""))
    .filter((tld) => tld !== "")
  if (asked.length > mostTlds || (tlds !== undefined && asked.length === 0)) {
    return yield* new Invalid({ message: `tlds: Expected 1 to ${mostTlds}, separated by commas` })
  }

  const typed = q.trim().toLowerCase().replace(/\.$/, "")
  const whole = typed.includes(".") ? yield* registrable(typed, "q") : undefined
  const label = whole === undefined ? typed : whole.slice(0, whole.indexOf("."))
  const wanted = asked.length > 0 ? asked : whole === undefined ? defaultTlds : []
  // Refuses labels that are invalid under every TLD.
  yield* registrable(`${label}.com`, "q")
  const others = yield* Effect.forEach(wanted, (tld) => registrable(`${label}.${tld}`, "tlds"))
  return [...new Set(whole === undefined ? others : [whole, ...others])]
})

const expectedOf = {
  q: "Expected a label such as example, or a name such as example.com",
  tlds: "Expected TLDs that names can be registered under, such as com,net or co.uk",
  domain: "Expected a name that can be registered, such as example.com"
}

/** A registrable name: one label under a public suffix. */
export const registrable = Effect.fnUntraced(function* (text: string, field: keyof typeof expectedOf) {
  const name = canonical(text)
  const { domain, isIcann } = parseSuffix(name ?? "", { allowPrivateDomains: false })
  // Only the mock registrar sells suffixes outside the list, such as .test.
  if (name === undefined || domain !== name || (isIcann !== true && name.split(".").length !== 2)) {
    return yield* new Invalid({
      message: `${field}: ${expectedOf[field]}`
    })
  }
  return DomainName.make(name)
})
