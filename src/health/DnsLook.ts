import { isIP } from "node:net"
import { Cache, Context, Deferred, Effect, Layer, Option, PartitionedSemaphore, RcMap, Result, Semaphore } from "effect"
import { Dns, Host, NetAddress } from "effect/net"
import { WorkspaceId } from "../model/Workspace.ts"
import * as Elapsed from "../schedule/Elapsed.ts"

/** A host of the MX records, as DNS describes it. */
export interface LookedUpHost {
  /** Without a trailing dot. Empty in a null MX (RFC 7505). */
  readonly host: string
  readonly priority: number
  readonly addresses: ReadonlyArray<string>
  /** Why it has no address, or null. */
  readonly problem: Dns.DnsErrorReason | null
  /** True for an alias, which an MX must not be (RFC 5321, section 5.1). */
  readonly isAlias: boolean
}

export interface MxRecord {
  readonly host: string
  readonly priority: number
}

/** Why there is no answer. `Busy` if too many other looks were under way, so DNS was not asked. */
export type NoAnswer = Dns.DnsErrorReason | "Busy"

/** What DNS answers about a domain. */
export interface Found {
  /** The TXT records at the name that proves ownership. Null without such a name. */
  readonly texts: Result.Result<ReadonlyArray<string>, NoAnswer> | null
  /** Every MX record, lowest priority first. */
  readonly mx: Result.Result<ReadonlyArray<MxRecord>, NoAnswer>
  /** An address in place of a host, if the MX records have nothing else. */
  readonly literal: string | null
  /** The first hosts, looked up. */
  readonly hosts: ReadonlyArray<LookedUpHost>
}

/** MX hosts that are looked up. A zone can have thousands. */
export const mostHosts = 5

/** Domains that are looked up at once. */
const atOnce = 16

/** Those of a workspace, so that its silent name servers leave places to others. */
const atOnceOfWorkspace = 3

/** How long a look waits for a place. */
const placePatience = "3 seconds"

/** Domains with a kept answer. Each is kept for a few seconds, so that requests cannot multiply queries. */
const mostKept = 1_000
const keptFor = "5 seconds"

/** Timeout of the look-ups of a host, which begin after the MX records are there. */
const hostPatience = "3 seconds"

/** Timeout of all look-ups of a domain, which begin once it has a place. */
const patience = "9 seconds"

const absent: Dns.DnsErrorReason = "NotFound"
const late: Dns.DnsErrorReason = "Timeout"

/** Looks up the records of a customer's domain, with a bounded number of queries. */
export class DnsLook extends Context.Service<
  DnsLook,
  { at(workspaceId: WorkspaceId, domain: string, txtName: string | null): Effect.Effect<Found> }
>()("inlet/health/DnsLook") {
  static readonly layer = Layer.effect(
    DnsLook,
    Effect.gen(function* () {
      const dns = yield* Dns.Dns
      const places = yield* PartitionedSemaphore.make<WorkspaceId>({ permits: atOnce })
      const ofWorkspace = yield* RcMap.make({ lookup: (_: WorkspaceId) => Semaphore.make(atOnceOfWorkspace) })

      /** Runs a look once it has a place, or fails in time if none becomes free. */
      const inPlace = Effect.fnUntraced(function* <A>(workspaceId: WorkspaceId, look: Effect.Effect<A>) {
        const started = yield* Deferred.make<void>()
        const own = yield* RcMap.get(ofWorkspace, workspaceId)
        const looked = Effect.andThen(Deferred.succeed(started, undefined), look).pipe(
          places.withPermit(workspaceId),
          own.withPermit
        )
        const gaveUp = Effect.flatMap(
          Effect.timeoutOption(Deferred.await(started), placePatience),
          Option.match({ onNone: () => Effect.fail("Busy" as const), onSome: () => Effect.never })
        )
        return yield* Effect.raceFirst(looked, gaveUp)
      }, Effect.scoped)

      const texts = (name: string) =>
        dns.resolve(name, "TXT").pipe(
          Effect.map((records) => records.map(({ chunks }) => chunks.join(""))),
          Effect.mapError(({ reason }) => reason),
          Effect.catchIf(
            (reason) => reason === absent,
            () => Effect.succeed<ReadonlyArray<string>>([])
          ),
          Effect.result
        )

      const host = Effect.fnUntraced(function* ({ host, priority }: MxRecord) {
        const none: LookedUpHost = { host, priority, addresses: [], problem: null, isAlias: false }
        if (host === "") return none
        const name = Host.domainNameFromStringUnsafe(host)
        const [addresses, alias] = yield* Effect.all(
          [Effect.result(dns.lookup(name)), Effect.result(dns.resolve(name, "CNAME"))],
          { concurrency: 2 }
        )
        return {
          ...none,
          addresses: addresses._tag === "Success" ? addresses.success.map(NetAddress.formatIp).sort() : [],
          problem: addresses._tag === "Success" ? null : addresses.failure.reason,
          isAlias: alias._tag === "Success" && alias.success.length > 0
        }
      })

      const hostInTime = (record: MxRecord) =>
        Effect.timeoutOrElse(host(record), {
          duration: hostPatience,
          orElse: () => Effect.succeed<LookedUpHost>({ ...record, addresses: [], problem: late, isAlias: false })
        })

      const mx = Effect.fnUntraced(function* (domain: string) {
        const answer = yield* Effect.result(dns.resolve(domain, "MX"))
        if (answer._tag === "Failure") return withoutMx(answer.failure)
        const records = answer.success
          .map(({ exchange, priority }) => ({ host: exchange.replace(/\.$/, "").toLowerCase(), priority }))
          .sort((a, b) => a.priority - b.priority || a.host.localeCompare(b.host, "en"))
        const hosts = yield* Effect.forEach(records.slice(0, mostHosts), hostInTime, { concurrency: "unbounded" })
        return { mx: Result.succeed(records), literal: null, hosts }
      })

      const look = Effect.fnUntraced(function* (domain: string, txtName: string | null) {
        const [found, proof] = yield* Effect.all(
          [mx(domain), txtName === null ? Effect.succeed(null) : texts(txtName)],
          {
            concurrency: 2
          }
        )
        return { ...found, texts: proof }
      })

      const kept = yield* Cache.make({
        capacity: mostKept,
        timeToLive: keptFor,
        lookup: (key: string) => {
          const [workspaceId = "", domain = "", txtName] = key.split(" ")
          const without = (reason: NoAnswer) =>
            Effect.succeed<Found>({
              mx: Result.fail(reason),
              literal: null,
              hosts: [],
              texts: txtName === undefined ? null : Result.fail(reason)
            })
          const inTime = Effect.timeoutOrElse(look(domain, txtName ?? null), {
            duration: patience,
            orElse: () => without(late)
          })
          return inPlace(WorkspaceId.make(workspaceId), inTime).pipe(
            Effect.catch(without),
            Effect.withSpan("DnsLook.at"),
            Elapsed.ofLookup
          )
        }
      })

      return DnsLook.of({
        at: (workspaceId, domain, txtName) =>
          Elapsed.ofCache(Cache.get(kept, [workspaceId, domain, ...(txtName === null ? [] : [txtName])].join(" ")))
      })
    })
  )
}

/** A domain without MX records, for whatever reason. */
const withoutMx = ({ cause, reason }: Dns.DnsError): Omit<Found, "texts"> => ({
  mx: reason === absent ? Result.succeed([]) : Result.fail(reason),
  literal: reason === "InvalidResponse" ? literalIn(cause) : null,
  hosts: []
})

/** The address that stands where an MX record needs the name of a host. The resolver refuses it as a name. */
const literalIn = (cause: unknown): string | null => {
  if (!(cause instanceof NetAddress.NetAddressError) || typeof cause.input !== "string") return null
  const text = cause.input.replace(/\.$/, "")
  return isIP(text) === 0 ? null : text
}
