import { Effect, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import type { DomainName } from "../model/Domain.ts"
import { RegistrarName } from "../model/Order.ts"
import { DnsHost } from "../providers/registrar/DnsHost.ts"
import { NameTaken, Refused, Registrar, RegistrarError, Uncertain } from "../providers/registrar/Registrar.ts"
import * as RegistrarMock from "../providers/registrar/RegistrarMock.ts"
import * as Mood from "./Mood.ts"

export interface Options {
  /** Its name in orders, `fake` by default. */
  readonly name?: string
  /** Prices in US cents per year: by domain, or one for all domains. Default 1000. */
  readonly prices?: number | Readonly<Record<string, number>>
}

const calls = ["quote", "holds", "register", "publish", "addText", "removeText"] as const
type Name = (typeof calls)[number]

/** One call of the registrar. */
export interface Call {
  readonly call: Name
  readonly names: ReadonlyArray<string>
}

export interface FakeRegistrar extends Mood.Moody<Name> {
  /** For `registrar` of `TestInlet.layer`. */
  readonly layer: Layer.Layer<Registrar | DnsHost, never, SqlClient.SqlClient>
  /** The calls in order. */
  readonly calls: ReadonlyArray<Call>
  /** The sold names. */
  readonly sold: ReadonlySet<string>
}

/**
 * A registrar in memory that sells each name once. The service's own resolver answers for its DNS, so a bought domain
 * is verified by itself. `refuse` is a refusal, after which an order is refunded. `fail` and `hang` give no answer,
 * after which the order waits and is checked again.
 */
export const make = (options: Options = {}): FakeRegistrar => {
  const { prices = 1_000 } = options
  const name = RegistrarName.make(options.name ?? "fake")
  const { under, will } = Mood.make(calls)
  const asked: Array<Call> = []
  const sold = new Set<DomainName>()
  const failed = (reason: RegistrarError["reason"]) => Effect.fail(new RegistrarError({ registrar: name, reason }))

  const ask = <A, E, R>(call: Name, names: ReadonlyArray<DomainName>, work: Effect.Effect<A, E, R>) =>
    Effect.suspend(() => {
      asked.push({ call, names })
      return work.pipe(
        under(call, {
          refuse: failed(new Refused({ message: "The fake registrar refuses" })),
          fail: failed(new Uncertain({ message: "The fake registrar does not answer" }))
        })
      )
    })
  const priceOf = (wanted: DomainName) => (typeof prices === "number" ? prices : prices[wanted])

  const registrar = Registrar.of({
    name,
    quote: (names) =>
      ask(
        "quote",
        names,
        Effect.sync(
          () =>
            new Map(
              names.flatMap((wanted): ReadonlyArray<readonly [DomainName, number]> => {
                const price = priceOf(wanted)
                return price === undefined || sold.has(wanted) ? [] : [[wanted, price]]
              })
            )
        )
      ),
    holds: (wanted) =>
      ask(
        "holds",
        [wanted],
        Effect.sync(() => sold.has(wanted))
      ),
    register: ({ name: wanted }) =>
      ask(
        "register",
        [wanted],
        Effect.suspend(() => (sold.has(wanted) ? failed(new NameTaken()) : Effect.sync(() => void sold.add(wanted))))
      )
  })

  const dnsHost = Layer.effect(
    DnsHost,
    Effect.map(RegistrarMock.zones, ({ publish, texts }) =>
      DnsHost.of({
        publish: (domain, records) => ask("publish", [domain], publish(domain, records)),
        ...(texts === undefined
          ? {}
          : {
              texts: {
                add: (domain, text) => ask("addText", [domain], texts.add(domain, text)),
                remove: (domain, text) => ask("removeText", [domain], texts.remove(domain, text))
              }
            })
      })
    )
  )
  return { layer: Layer.merge(Layer.succeed(Registrar, registrar), dnsHost), calls: asked, sold, will }
}
