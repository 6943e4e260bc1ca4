import { Context, Effect, Layer } from "effect"
import { Dns } from "effect/net"
import type { SqlError } from "effect/sql/SqlError"
import { Conflict, type NotFound } from "../model/ApiError.ts"
import type { Domain, DomainId } from "../model/Domain.ts"
import type { WorkspaceId } from "../model/Workspace.ts"
import type { DnsState, MxRecords } from "./DnsRecords.ts"
import { Domains } from "./Domains.ts"

/** Looks up a customer's DNS records. */
export class Verification extends Context.Service<
  Verification,
  {
    /** Endpoint 11: looks up the TXT record and advances the domain. One match in the record set is enough. */
    verify(owned: {
      readonly workspaceId: WorkspaceId
      readonly id: DomainId
    }): Effect.Effect<Domain, NotFound | Conflict | SqlError>
    /** The MX record to publish, with the current ones (endpoint 13 of the specification). */
    mx(domain: Domain): Effect.Effect<MxRecords>
    /** The records to publish, each with what DNS answers for it now. */
    dns(domain: Domain): Effect.Effect<DnsState>
  }
>()("inlet/domains/Verification") {
  static readonly layer = Layer.effect(
    Verification,
    Effect.gen(function* () {
      const domains = yield* Domains
      const dns = yield* Dns.Dns

      const published = (name: string) =>
        dns.resolve(name, "TXT").pipe(
          Effect.map((records) => records.map(({ chunks }) => chunks.join(""))),
          Effect.catchIf(
            ({ reason }) => reason === "NotFound",
            () => Effect.succeed<ReadonlyArray<string>>([])
          ),
          Effect.mapError(
            ({ reason }) =>
              new Conflict({
                message: `DNS did not answer for ${name} (${reason}). Retry in a minute, or check the domain's name servers`
              })
          )
        )

      const verify: Verification["Service"]["verify"] = Effect.fn("Verification.verify")(function* (owned) {
        const domain = yield* domains.get(owned)
        if (domain.status === "disabled") {
          return yield* new Conflict({ message: `${domain.domain} is disabled: ${domain.disabled_reason}` })
        }
        if (domain.status !== "pending_verification" || domain.txt_name === null || domain.txt_value === null) {
          return domain
        }
        const texts = yield* published(domain.txt_name)
        if (texts.length === 0) {
          return yield* new Conflict({
            message: `No TXT record at ${domain.txt_name} yet. Publish ${domain.txt_value} there. It can take some minutes to become visible`
          })
        }
        if (!texts.includes(domain.txt_value)) {
          return yield* new Conflict({
            message: `The TXT record at ${domain.txt_name} has another value. Expected ${domain.txt_value}`
          })
        }
        return yield* domains.markVerified(owned)
      })

      const mx = Effect.fn("Verification.mx")(function* (domain: Domain) {
        const observed = yield* dns.resolve(domain.domain, "MX").pipe(
          Effect.map((records) =>
            records
              .map(({ exchange, priority }) => ({ priority, value: exchange.replace(/\.$/, "") }))
              .sort((a, b) => a.priority - b.priority)
          ),
          Effect.orElseSucceed(() => [])
        )
        return {
          domain: domain.domain,
          records: [{ type: "MX" as const, name: domain.domain, priority: 10, value: domain.mx_target }],
          observed,
          configured: observed.some(({ value }) => value === domain.mx_target)
        }
      })

      const txt = Effect.fnUntraced(function* ({ txt_name: name, txt_value: value }: Domain) {
        if (name === null || value === null) return []
        const observed = yield* Effect.result(published(name))
        return [
          {
            type: "TXT" as const,
            name,
            value,
            priority: null,
            observed: observed._tag === "Success" ? observed.success : [],
            configured: observed._tag === "Success" && observed.success.includes(value),
            problem: observed._tag === "Success" ? null : observed.failure.message
          }
        ]
      })

      const dnsNow = Effect.fn("Verification.dns")(function* (domain: Domain) {
        const [texts, { configured, observed, records }] = yield* Effect.all([txt(domain), mx(domain)], {
          concurrency: 2
        })
        const published = observed.map(({ priority, value }) => `${priority} ${value}`)
        return {
          domain: domain.domain,
          records: [
            ...texts,
            ...records.map((record) => ({ ...record, observed: published, configured, problem: null }))
          ]
        }
      })

      return Verification.of({ verify, mx, dns: dnsNow })
    })
  ).pipe(Layer.provide(Domains.layer))
}
