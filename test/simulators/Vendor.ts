import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http"
import { Context, Effect, FiberSet } from "effect"
import type { ZoneRecord } from "../../src/providers/registrar/DnsHost.ts"
import * as Ports from "../Ports.ts"

/** The operations of a registrar, named the same for all vendors. */
export type Operation = "login" | "price" | "check" | "holds" | "register" | "records" | "publish"

/**
 * A fault of a call. After `silence` and `hang-up` the vendor has acted without an answer. After the others it has
 * not acted.
 */
export type Mishap =
  | "busy"
  | "too many requests"
  | "rubbish"
  | "silence"
  | "hang-up"
  | { readonly delay: number }
  | { readonly error: number; readonly text: string; readonly name?: string }

/** A record of a zone, also one that the owner made. */
export type VendorRecord = ZoneRecord | { readonly type: "A"; readonly name: string; readonly value: string }

/** `fee` is charged in addition by some vendors. */
export interface Price {
  /** The price of the year in a term of one year, if that is another. */
  readonly first?: string
  /** Of the whole term, where it is longer than a year. */
  readonly absolute?: string
  readonly decimal: string
  readonly currency: string
  readonly fee: string
}

export interface Sale {
  readonly years: number
  readonly parameters: Readonly<Record<string, string>>
}

/** A domain vendor on a loopback socket, with an account. Names that start with `taken` are not available. */
export class Vendor extends Context.Service<
  Vendor,
  {
    readonly url: string
    /** Sets the yearly price of a TLD. Some, such as .com, have initial prices. */
    price(tld: string, price: Partial<Price>): Effect.Effect<void>
    premium(name: string): Effect.Effect<void>
    /** Faults for the next calls of an operation, one each, for any call or those with the fault's name. */
    mishaps(operation: Operation, ...next: ReadonlyArray<Mishap>): Effect.Effect<void>
    /** Ends all sessions. */
    readonly forget: Effect.Effect<void>
    /** Lets the registry take its time with a name, or end that. */
    pending(name: string, isPending: boolean): Effect.Effect<void>
    /** Drops a name from the account. */
    drop(name: string): Effect.Effect<void>
    /** The account's record of a name. */
    sale(name: string): Effect.Effect<Sale | undefined>
    /** The served zone of a name, in any order. */
    zone(name: string): Effect.Effect<ReadonlyArray<VendorRecord> | undefined>
    /** Adds a record as its owner. */
    own(name: string, record: VendorRecord): Effect.Effect<void>
    /** The number of calls of an operation so far, optionally only those with this name. */
    asked(operation: Operation, name?: string): Effect.Effect<number>
    /** The number of calls interrupted before their answer. */
    readonly abandoned: Effect.Effect<number>
    /** The path and query of every call. */
    readonly urls: Effect.Effect<ReadonlyArray<string>>
  }
>()("inlet/test/simulators/Vendor") {}

export interface Account {
  readonly prices: Map<string, Price>
  readonly premiums: Set<string>
  readonly sales: Map<string, Sale>
  /** Names that the registry has not registered yet. */
  readonly pending: Set<string>
  readonly zones: Map<string, ReadonlyArray<VendorRecord>>
  readonly tokens: Set<string>
}

export interface Question {
  readonly method: string
  readonly url: URL
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface Answer {
  readonly status: number
  readonly type: string
  readonly body: string
}

/** The protocol of one vendor. */
export interface Dialect {
  operation(question: Question): Operation | undefined
  answer(question: Question, account: Account): Answer
  /** The form of its errors. */
  error(number: number, text: string): Answer
}

const standard: Price = { decimal: "10.00", currency: "USD", fee: "0.00" }

export const belongsToAnother = (name: string) => name.startsWith("taken")

/** Whether a fault applies to a call. */
const isFor = (mishap: Mishap, said: string) =>
  typeof mishap === "string" || !("name" in mishap) || said.includes(mishap.name ?? "")

export const make = Effect.fnUntraced(function* (path: string, dialect: Dialect) {
  const port = yield* Ports.free
  const run = yield* FiberSet.makeRuntime()
  const mishaps = new Map<Operation, Array<Mishap>>()
  const asked: Array<{ readonly operation: Operation; readonly said: string }> = []
  const urls: Array<string> = []
  let abandoned = 0
  const account: Account = {
    prices: new Map(
      Object.entries({ com: "10.28", net: "11.48", org: "7.48", io: "34.98", dev: "12.98", "co.uk": "5.05" }).map(
        ([tld, decimal]) => [tld, { ...standard, decimal }]
      )
    ),
    premiums: new Set(),
    sales: new Map(),
    pending: new Set(),
    zones: new Map(),
    tokens: new Set()
  }

  const react = (question: Question, response: ServerResponse) => {
    const operation = dialect.operation(question)
    const send = ({ body, status, type }: Answer) => void response.writeHead(status, { "Content-Type": type }).end(body)
    if (operation === undefined) return send({ status: 404, type: "text/html", body: "<h1>Not found</h1>" })
    const said = `${question.url.search}${question.body}`
    asked.push({ operation, said })
    const next = mishaps.get(operation) ?? []
    const meant = next.findIndex((mishap) => isFor(mishap, said))
    const [mishap] = meant < 0 ? [] : next.splice(meant, 1)
    switch (mishap) {
      case undefined:
        return send(dialect.answer(question, account))
      case "busy":
        return send({ status: 503, type: "text/html", body: "<h1>Service Unavailable</h1>" })
      case "too many requests":
        return send({ status: 429, type: "text/html", body: "<h1>Too Many Requests</h1>" })
      case "rubbish":
        return send({ status: 200, type: "text/html", body: "<!DOCTYPE html><p>We'll be back soon & better<br>" })
      case "silence":
        return void dialect.answer(question, account)
      case "hang-up":
        dialect.answer(question, account)
        return void response.destroy()
      default:
        if ("error" in mishap) return send(dialect.error(mishap.error, mishap.text))
        run(
          Effect.delay(
            Effect.sync(() => send(dialect.answer(question, account))),
            mishap.delay
          )
        )
    }
  }

  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    urls.push(request.url ?? "")
    response.on("close", () => {
      if (!response.writableFinished) abandoned++
    })
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () =>
      react(
        {
          method: request.method ?? "",
          url: new URL(request.url ?? "", `http://127.0.0.1:${port}`),
          headers: request.headers,
          body: Buffer.concat(chunks).toString()
        },
        response
      )
    )
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(port, "127.0.0.1", () => resume(Effect.void))),
    () =>
      Effect.callback<void>((resume) => {
        server.closeAllConnections()
        server.close(() => resume(Effect.void))
      })
  )

  return Vendor.of({
    url: `http://127.0.0.1:${port}${path}`,
    price: (tld, price) => Effect.sync(() => void account.prices.set(tld, { ...standard, ...price })),
    premium: (name) => Effect.sync(() => void account.premiums.add(name)),
    mishaps: (operation, ...next) => Effect.sync(() => void mishaps.set(operation, [...next])),
    forget: Effect.sync(() => account.tokens.clear()),
    pending: (name, isPending) =>
      Effect.sync(() => void (isPending ? account.pending.add(name) : account.pending.delete(name))),
    drop: (name) => Effect.sync(() => void account.sales.delete(name)),
    sale: (name) => Effect.sync(() => account.sales.get(name)),
    zone: (name) => Effect.sync(() => account.zones.get(name)),
    own: (name, record) =>
      Effect.sync(() => void account.zones.set(name, [...(account.zones.get(name) ?? []), record])),
    asked: (operation, name = "") =>
      Effect.sync(() => asked.filter((call) => call.operation === operation && call.said.includes(name)).length),
    abandoned: Effect.sync(() => abandoned),
    urls: Effect.sync(() => [...urls])
  })
})
