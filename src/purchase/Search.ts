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

/** The most that Stripe takes in one payment, $999,999.99. What costs more for the longest term is not sold. */
const mostCents = 99_999_999
const mostYears = 10

/** Whoever quotes later is left out, and the answer is there within five seconds all the same. */
const quoteTime = "4800 millis"

/** The best offer for one name for one year. The price fields are null where no registrar quotes. */
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

/** A registrar's price for one year, without the markup. */
export interface Offer {
  readonly registrar: RegistrarName
  readonly wholesaleCents: number
}

/** Which names can be had, where, and for how much. */
export class Search extends Context.Service<
  Search,
  {
    /** Endpoint 6: `q` is a label or a name, `tlds` a comma-separated list. One result for each candidate, in the order asked. */
    search(q: string, tlds: string | undefined): Effect.Effect<ReadonlyArray<SearchResult>, Invalid>
    /**
     * Every offer for a name, the cheapest first, REGISTRAR_PRIMARY first among
     * equals. Of the registrars that sell the TLD `answered` is how many did answer,
     * and `silent` who did not.
     */
    offers(name: DomainName): Effect.Effect<{
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

      /** The quotes of every registrar that answers in time. */
      const quotes = Effect.fnUntraced(function* (names: ReadonlyArray<DomainName>) {
        return yield* Effect.forEach(
          registrars,
          ([registrar, vendor]) => {
            const own = names.filter((name) => sells(registrar, name))
            const none: ReadonlyMap<DomainName, number> = new Map()
            if (own.length === 0) return Effect.succeed({ registrar, asked: own, answered: true, prices: none })
            return vendor.registrar.quote(own).pipe(
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
          // Registrars come with the primary one first, and sorting keeps the order of equals.
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

      const offers = Effect.fn("Search.offers")(function* (name: DomainName) {
        const all = (yield* quotes([name])).filter(({ asked }) => asked.length > 0)
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

/** The names a search is about. A whole name stands for itself, and its label for the TLDs that are asked for. */
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

/** A name that can be registered as it is: one label under a public suffix. */
export const registrable = Effect.fnUntraced(function* (text: string, field: keyof typeof expectedOf) {
  const name = canonical(text)
  const { domain, isIcann } = parseSuffix(name ?? "", { allowPrivateDomains: false })
  // A suffix the list does not know, such as .test, is the mock registrar's to sell.
  if (name === undefined || domain !== name || (isIcann !== true && name.split(".").length !== 2)) {
    return yield* new Invalid({
      message: `${field}: ${expectedOf[field]}`
    })
  }
  return DomainName.make(name)
})
