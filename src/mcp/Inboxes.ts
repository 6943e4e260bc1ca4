import { Context, Effect, Layer } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import * as DomainNames from "../domains/DomainNames.ts"
import { Domains } from "../domains/Domains.ts"
import type { CurrentWorkspace } from "../http/requests/CurrentWorkspace.ts"
import * as LimitedKeys from "../http/requests/LimitedKeys.ts"
import { Invalid } from "../model/ApiError.ts"
import { type Domain, DomainName, takingMail } from "../model/Domain.ts"

/** The maximum number of names in a message. */
const mostNamed = 10

const named = (domains: ReadonlyArray<Domain>) =>
  `${domains
    .slice(0, mostNamed)
    .map(({ domain }) => domain)
    .join(", ")}${domains.length > mostNamed ? ", … (get_inboxes tells all)" : ""}`

/** Resolves an address to a domain of a workspace that the key may see. */
export class Inboxes extends Context.Service<
  Inboxes,
  {
    /** The domain of `to` (an address or a domain), else the only one that accepts mail. */
    of(
      workspace: Pick<CurrentWorkspace["Service"], "id" | "limit">,
      to: string | undefined
    ): Effect.Effect<
      {
        readonly domain: Domain
        readonly recipient: string | undefined
        /** The pattern of a key with a limit. */
        readonly only: string | undefined
      },
      Invalid | SqlError
    >
  }
>()("inlet/mcp/Inboxes") {
  static readonly layer = Layer.effect(
    Inboxes,
    Effect.gen(function* () {
      const domains = yield* Domains

      const of: Inboxes["Service"]["of"] = Effect.fn("Inboxes.of")(function* (workspace, to) {
        const { limit } = workspace
        const only = limit?.pattern
        const visible = LimitedKeys.visible(workspace)
        /** Those that take mail, or else all. */
        const choice = Effect.gen(function* () {
          const { domains: some } = yield* domains.foremost(visible, mostNamed + 1)
          if (some.length === 0) {
            return yield* new Invalid({
              message: "This workspace has no inbox yet. Call get_inboxes, which says how to create one"
            })
          }
          const ready = some.filter(({ status }) => takingMail.includes(status))
          return ready.length === 0 ? some : ready
        })
        if (to === undefined) {
          const some = yield* choice
          const [first, ...more] = some
          if (first !== undefined && more.length === 0) return { domain: first, recipient: undefined, only }
          return yield* new Invalid({ message: `to: Expected an address or a domain, one of ${named(some)}` })
        }
        const name = DomainNames.canonical(to.slice(to.lastIndexOf("@") + 1))
        const [domain] =
          name === undefined
            ? []
            : (yield* domains.list({ ...visible, name: DomainName.make(name) }, { limit: 1 })).items
        if (domain === undefined) {
          return yield* new Invalid({ message: `to: Expected an address at ${named(yield* choice)}` })
        }
        if (limit !== null && to.includes("@") && !LimitedKeys.sees(limit, to)) {
          return yield* new Invalid({
            message: `to: Expected an address that ${limit.pattern} takes, as this key does`
          })
        }
        return { domain, recipient: to.includes("@") ? DomainNames.ofAddress(to) : undefined, only }
      })

      return Inboxes.of({ of })
    })
  )
}
