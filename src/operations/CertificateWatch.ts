import { X509Certificate } from "node:crypto"
import { Clock, Context, DateTime, type Duration, Effect, FileSystem, Layer, Option } from "effect"
import * as CertificateEnd from "../certificates/CertificateEnd.ts"
import { CurrentCertificate } from "../certificates/CurrentCertificate.ts"
import * as Settings from "../Settings.ts"
import * as BackgroundLoop from "../schedule/BackgroundLoop.ts"
import * as Ledger from "./Ledger.ts"

/** Days before the end of the certificate at which it is reported, each once. */
const thresholds = [3, 14] as const

const dayMillis = 86_400_000

/** How often a process looks. Tests shorten it. */
export const Interval = Context.Reference<Duration.Input>("inlet/operations/CertificateWatch/Interval", {
  defaultValue: () => "1 hour"
})

/** The first certificate of a PEM text. None if it is unreadable, which the mail server reports. */
const parse = (pem: string) =>
  Effect.option(
    Effect.try((): CertificateEnd.Validity => {
      const { validFromDate, validToDate } = new X509Certificate(pem)
      return { validFrom: validFromDate.getTime(), validTo: validToDate.getTime() }
    })
  )

const inFile = Effect.fnUntraced(
  function* (file: string) {
    const fs = yield* FileSystem.FileSystem
    return yield* Effect.flatMap(fs.readFileString(file), parse)
  },
  Effect.orElseSucceed(Option.none<CertificateEnd.Validity>)
)

/** Tells the operator that the certificate for STARTTLS ends soon. Runs beside the mail server, which has the file. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const { mxHost, tlsCertificate } = yield* Settings.smtp
    const current = yield* CurrentCertificate
    // A self-signed certificate is new at every start.
    if (tlsCertificate === undefined && current === undefined) return
    const ordered = Effect.flatMap(
      current ?? Effect.succeedNone,
      Option.match({ onNone: () => Effect.succeedNone, onSome: ({ chain }) => parse(chain) })
    )
    const record = yield* Ledger.make

    const look = Effect.gen(function* () {
      const found = yield* tlsCertificate === undefined ? ordered : inFile(tlsCertificate)
      if (Option.isNone(found)) return
      const { validTo: end } = found.value
      const now = yield* Clock.currentTimeMillis
      if (tlsCertificate === undefined && !CertificateEnd.isLate(found.value, now)) return
      const days = Math.floor((end - now) / dayMillis)
      const threshold = thresholds.find((most) => days < most)
      if (threshold === undefined) return
      const endsAt = DateTime.makeUnsafe(end)
      const left = days < 0 ? "has ended" : days === 1 ? "ends in 1 day" : `ends in ${days} days`
      yield* record({
        workspaceId: null,
        domainId: null,
        kind: `certificate.expiring ${threshold}`,
        period: endsAt,
        details: {
          type: "certificate.expiring",
          occurred_at: DateTime.makeUnsafe(now),
          host: mxHost,
          ends_at: endsAt,
          days_left: days,
          message: `The certificate of ${mxHost} ${left}. ${tlsCertificate === undefined ? "Inlet could not renew it. GET /admin/status has the reason" : "Renew the files in SMTP_TLS_CERT and SMTP_TLS_KEY. Inlet uses them within a minute"}`
        }
      })
    })
    yield* BackgroundLoop.every(
      yield* Interval,
      { says: "The look at the end of the certificate failed. Inlet looks again", level: "Warn" },
      look
    )
  })
)
