import { Context, Duration, Effect, Result, Schedule } from "effect"
import { Dns, Host } from "effect/net"
import { SqlClient } from "effect/sql"
import { parse } from "tldts"
import { DomainName } from "../model/Domain.ts"
import { type Challenge, NotProven } from "../providers/authority/CertificateAuthority.ts"
import type { DnsHost } from "../providers/registrar/DnsHost.ts"
import { Registrars } from "../providers/registrar/Registrars.ts"
import * as ChallengeAnswers from "./ChallengeAnswers.ts"

/** The waits before the authority may look. Tests shorten them. */
export const Waits = Context.Reference("inlet/certificates/HostProof/Waits", {
  defaultValue: () => ({
    /** Until every process answers a new token. */
    memory: Duration.sum(ChallengeAnswers.memory, Duration.seconds(1)),
    /** Between looks for a TXT record, whose absence resolvers remember. */
    look: Duration.seconds(15),
    /** Until a TXT record must be visible. */
    longest: Duration.minutes(20),
    /** From then until the domain's other name servers have it. */
    spread: Duration.seconds(30)
  })
})

/** Makes the answer visible at `/.well-known/acme-challenge/`. */
export const http = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { memory } = yield* Waits
  return Effect.fnUntraced(
    function* ({ answer, token }: Challenge) {
      yield* ChallengeAnswers.publish(sql, { answer, token })
      yield* Effect.sleep(memory)
    },
    Effect.mapError(
      () => new NotProven({ message: "The database did not take the answer for the certificate authority" })
    )
  )
})

type Texts = NonNullable<DnsHost["Service"]["texts"]>

/** Makes the answer a TXT record of the domain, which a configured registrar must hold. */
export const dns = Effect.gen(function* () {
  const registrars = yield* Registrars
  const resolver = yield* Dns.Dns
  const { longest, look, spread } = yield* Waits

  const hostOf = Effect.fnUntraced(function* (zone: DomainName) {
    let silent = ""
    for (const [name, { dnsHost, registrar }] of registrars) {
      const { texts } = dnsHost
      if (texts === undefined) continue
      const holds = yield* Effect.result(registrar.holds(zone))
      if (Result.isFailure(holds)) silent = name
      else if (holds.success) return { name, texts }
    }
    return yield* new NotProven({
      message:
        silent === ""
          ? `No configured registrar holds ${zone}, so Inlet can't publish a TXT record there. Set ACME_CHALLENGE=http, or the registrar's credentials`
          : `${silent} does not say whether it holds ${zone}`
    })
  })

  const add = (registrar: string, texts: Texts, zone: DomainName, record: Parameters<Texts["add"]>[1]) =>
    Effect.acquireRelease(
      texts.add(zone, record).pipe(
        Effect.mapError(
          ({ reason }) =>
            new NotProven({
              message: `${registrar} did not publish the TXT record ${record.name} of ${zone}: ${
                reason._tag === "NameTaken" ? "the name has another owner" : reason.message
              }`
            })
        )
      ),
      () =>
        Effect.catch(texts.remove(zone, record), () =>
          Effect.logWarning(`${registrar} did not remove the TXT record ${record.name} of ${zone}. It does no harm`)
        )
    )

  return Effect.fnUntraced(function* ({ answer, host }: Challenge) {
    const { domain } = parse(host, { allowPrivateDomains: false })
    const zone = DomainName.make(domain ?? host)
    const full = `_acme-challenge.${host}`
    const { name, texts } = yield* hostOf(zone)
    yield* add(name, texts, zone, { name: full.slice(0, -zone.length - 1), value: answer })
    const isVisible = resolver.resolve(Host.domainNameFromStringUnsafe(full), "TXT").pipe(
      Effect.map((records) => records.some(({ chunks }) => chunks.join("") === answer)),
      Effect.orElseSucceed(() => false)
    )
    yield* isVisible.pipe(
      Effect.repeat({ schedule: Schedule.spaced(look), until: (yes) => yes }),
      Effect.timeoutOrElse({
        duration: longest,
        orElse: () =>
          Effect.fail(
            new NotProven({
              message: `DNS does not show the TXT record ${full} after ${Duration.toMinutes(longest)} minutes. Check that the name servers of ${zone} are those of ${name}`
            })
          )
      })
    )
    yield* Effect.sleep(spread)
  })
})
