import { createHash } from "node:crypto"
import { Context, Effect, Layer, Metric, Redacted, type Scope } from "effect"
import { BoundedMap } from "../../cache/BoundedMap.ts"
import { Tally } from "../../cache/Tally.ts"
import { TooManyRequests } from "../../model/ApiError.ts"
import type { DomainId } from "../../model/Domain.ts"
import type { WorkspaceId } from "../../model/Workspace.ts"
import * as Settings from "../../Settings.ts"
import * as Elapsed from "../../schedule/Elapsed.ts"
import { CurrentAnswer } from "../answers/CurrentAnswer.ts"
import * as RequestRate from "./RequestRate.ts"

/** Number of keys with a cached owner, so that clients over their limit are refused without a query. */
const rememberedKeys = 10_000

/** A workspace may use the requests of so many seconds at once. */
const burstSeconds = 3

/** Bytes of an answer that count as one more request. */
const bytesOfARequest = 64 * 1024

const openWaits = Metric.gauge("inlet_http_waits", { description: "Open waits and event streams" })

/** Limits the requests of each workspace and demo inbox, so that one cannot exhaust the server. */
export class OpenRequests extends Context.Service<
  OpenRequests,
  {
    /** Refuses a known key or cookie over its limit before its lookup. Does not reveal whether it is valid. */
    known(key: Redacted.Redacted): Effect.Effect<void, TooManyRequests>
    /** Counts the request for the owner of this key until the end of its answer. */
    enter(owner: WorkspaceId | DomainId, key: Redacted.Redacted): Effect.Effect<void, TooManyRequests>
    /** Moves the request from the open requests to the waits and streams until the scope closes. */
    take(owner: WorkspaceId | DomainId, most?: number): Effect.Effect<void, TooManyRequests, Scope.Scope>
  }
>()("inlet/http/OpenRequests") {
  static readonly layer = Layer.effect(
    OpenRequests,
    Effect.gen(function* () {
      const { requestsAtOnce, requestsPerSecond, waitsAtOnce } = yield* Settings.answers
      const requestBurst = burstSeconds * requestsPerSecond
      const rate = RequestRate.make({ perSecond: requestsPerSecond, burst: requestBurst })
      const underWay = new Tally()
      const held = new Tally()
      const owners = new BoundedMap<string, WorkspaceId | DomainId>(rememberedKeys)

      const tooMany = (most: number) =>
        new TooManyRequests({
          message: `${most} of your requests are running. Wait until one ends, then retry`,
          retryAfter: 1
        })
      const isFull = (owner: string) => requestsAtOnce > 0 && underWay.of(owner) >= requestsAtOnce

      const heed = Effect.fnUntraced(function* ({ headers, isAllowed, retryAfter }: RequestRate.Taken) {
        const answer = yield* CurrentAnswer
        for (const [name, value] of Object.entries(headers)) answer?.headers.set(name, value)
        if (!isAllowed) {
          return yield* new TooManyRequests({
            message: `${requestsPerSecond} requests a second, and ${requestBurst} at once, are the limit of a workspace. Each 64 KiB of an answer count as one more request. Retry in ${retryAfter} s`,
            retryAfter
          })
        }
      })
      const ask = Effect.fnUntraced(function* (owner: string, tokens: 0 | 1) {
        yield* heed(rate.take(owner, yield* Elapsed.millis, tokens))
        if (isFull(owner)) return yield* tooMany(requestsAtOnce)
      })
      const charge = Effect.fnUntraced(function* (owner: string, bytes: number) {
        const tokens = Math.floor(bytes / bytesOfARequest)
        if (tokens > 0) yield* heed(rate.charge(owner, yield* Elapsed.millis, tokens))
      })

      const known = Effect.fnUntraced(function* (key: Redacted.Redacted) {
        const owner = owners.get(hashOf(key))
        if (owner !== undefined) yield* ask(owner, 0)
      })

      const enter = Effect.fnUntraced(function* (owner: WorkspaceId | DomainId, key: Redacted.Redacted) {
        owners.set(hashOf(key), owner)
        yield* ask(owner, 1)
        const answer = yield* CurrentAnswer
        if (answer === undefined) return
        let isHere = true
        answer.owner = owner
        answer.charge = (bytes) => charge(owner, bytes)
        answer.leave = () => {
          if (isHere) underWay.add(owner, -1)
          isHere = false
        }
        underWay.add(owner, 1)
        answer.whenOver(answer.leave)
      })

      const hold = Effect.fnUntraced(function* (owner: string, most: number) {
        if (most > 0 && held.of(owner) >= most) {
          return yield* new TooManyRequests({
            message: `${most} waits and streams are open, which is the limit. Close one, or retry when one has ended`,
            retryAfter: 5
          })
        }
        held.add(owner, 1)
        yield* Metric.modify(openWaits, 1)
        const answer = yield* CurrentAnswer
        answer?.leave()
      })
      const release = (owner: string) =>
        Effect.andThen(
          Effect.sync(() => held.add(owner, -1)),
          Metric.modify(openWaits, -1)
        )

      return OpenRequests.of({
        known,
        enter,
        take: (owner, most = waitsAtOnce) => Effect.acquireRelease(hold(owner, most), () => release(owner))
      })
    })
  )
}

// Keys are not retained in plain text after their request.
const hashOf = (key: Redacted.Redacted) => createHash("sha256").update(Redacted.value(key)).digest("base64")
