import { type Config, Context, Effect, type FileSystem, Layer, type Path, type PlatformError } from "effect"
import type { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import type { RegistrarName } from "../model/Order.ts"
import * as Settings from "../Settings.ts"
import type { CertificateAuthority } from "./authority/CertificateAuthority.ts"
import * as ChosenAuthority from "./authority/ChosenAuthority.ts"
import { Billing } from "./billing/Billing.ts"
import * as BillingMock from "./billing/BillingMock.ts"
import { misnamed, Unconfigured, unknown, whole } from "./Configured.ts"
import * as MockZone from "./dns/MockZone.ts"
import * as Resolver from "./dns/Resolver.ts"
import { DnsHost } from "./registrar/DnsHost.ts"
import { Registrar } from "./registrar/Registrar.ts"
import * as RegistrarMock from "./registrar/RegistrarMock.ts"
import * as RegistrarNamecheap from "./registrar/RegistrarNamecheap.ts"
import * as RegistrarOpenprovider from "./registrar/RegistrarOpenprovider.ts"
import { Registrars, type Vendor } from "./registrar/Registrars.ts"
import { MailScanner } from "./scanner/MailScanner.ts"
import * as MailScannerRspamd from "./scanner/MailScannerRspamd.ts"
import { WebhookSigner } from "./signing/WebhookSigner.ts"
import type { RawStore } from "./storage/RawStore.ts"
import * as RawStoreFile from "./storage/RawStoreFile.ts"
import * as RawStoreS3 from "./storage/RawStoreS3.ts"
import * as Segments from "./storage/Segments.ts"

// Only this file knows every vendor. Its own settings choose each seam, and no default needs an account. Other
// implementations are Layers passed to `layerWith`.

/** Additional registrars by name. Settings select each Layer as they select the built-in ones. */
export type OwnRegistrars<E, R> = Readonly<Record<string, Layer.Layer<Registrar | DnsHost, E, R>>>

/** Additional payment providers by name. `BILLING_PROVIDER` selects one. */
export type OwnBillings<E, R> = Readonly<Record<string, Layer.Layer<Billing, E, R>>>

const mebibyte = 1_024 * 1_024

const bucket = Effect.gen(function* () {
  const { accessKeyId, endpoint, name, region, secretAccessKey } = yield* Settings.bucket
  const { folder, messageBytes } = yield* Settings.rawStore
  const given = yield* whole({
    RAW_STORE: "s3",
    S3_ENDPOINT: endpoint,
    S3_REGION: region,
    S3_BUCKET: name,
    S3_ACCESS_KEY_ID: accessKeyId,
    S3_SECRET_ACCESS_KEY: secretAccessKey
  })
  return RawStoreS3.layer({
    endpoint: given.S3_ENDPOINT,
    region: given.S3_REGION,
    name: given.S3_BUCKET,
    accessKeyId: given.S3_ACCESS_KEY_ID,
    secretAccessKey: given.S3_SECRET_ACCESS_KEY,
    // Half of the time that a sender waits, so that one hang can be retried.
    patience: "4 seconds",
    // The message limit may have been higher in the past.
    largest: Math.max(messageBytes, 64 * mebibyte) + mebibyte,
    segments: yield* Segments.make(folder)
  })
})

/** The raw store of `RAW_STORE`. */
export const rawStore = Layer.unwrap(
  Effect.gen(function* () {
    const { folder, kind } = yield* Settings.rawStore
    const store: Layer.Layer<
      RawStore,
      PlatformError.PlatformError | RawStoreS3.BucketUnusable,
      FileSystem.FileSystem | Path.Path | SecureRandom.SecureRandom
    > = kind === "s3" ? yield* bucket : RawStoreFile.layer(folder)
    return store
  })
)

const stripe = Effect.gen(function* () {
  const { apiUrl, secretKey, webhookSecret } = yield* Settings.stripe
  const given = yield* whole({
    BILLING_PROVIDER: "stripe",
    STRIPE_SECRET_KEY: secretKey,
    STRIPE_WEBHOOK_SECRET: webhookSecret
  })
  // Loaded on demand, because only Stripe needs these two hundred modules.
  const BillingStripe = yield* Effect.promise(() => import("./billing/BillingStripe.ts"))
  return BillingStripe.layer({
    secretKey: given.STRIPE_SECRET_KEY,
    webhookSecret: given.STRIPE_WEBHOOK_SECRET,
    apiUrl
  })
})

/** The billing provider of `BILLING_PROVIDER`. */
export const billingWith = <E = never, R = never>(own: OwnBillings<E, R> = {}) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { billingProvider } = yield* Settings.purchase
      const ours: OwnBillings<E, R | SqlClient.SqlClient | SecureRandom.SecureRandom> = {
        mock: BillingMock.layer,
        ...(billingProvider === "stripe" ? { stripe: yield* stripe } : {}),
        ...own
      }
      const chosen = ours[billingProvider]
      if (chosen === undefined) {
        return yield* unknown("BILLING_PROVIDER", billingProvider, ["mock", "stripe", ...Object.keys(own)])
      }
      // A row would name a billing provider that no setting can choose.
      return Layer.tap(chosen, (context) =>
        Context.get(context, Billing).provider === billingProvider
          ? Effect.void
          : Effect.fail(misnamed("BILLING_PROVIDER", billingProvider, Context.get(context, Billing).provider))
      )
    })
  )

const namecheap = Effect.gen(function* () {
  const { apiKey, apiUrl, apiUser, clientIp, contact, sandbox } = yield* Settings.namecheap
  if (apiUser === undefined && apiKey === undefined) return undefined
  const given = yield* whole({
    NAMECHEAP_API_USER: apiUser,
    NAMECHEAP_API_KEY: apiKey,
    NAMECHEAP_CLIENT_IP: clientIp,
    NAMECHEAP_CONTACT_FIRST_NAME: contact.firstName,
    NAMECHEAP_CONTACT_LAST_NAME: contact.lastName,
    NAMECHEAP_CONTACT_ADDRESS: contact.address,
    NAMECHEAP_CONTACT_CITY: contact.city,
    NAMECHEAP_CONTACT_STATE: contact.state,
    NAMECHEAP_CONTACT_POSTAL_CODE: contact.postalCode,
    NAMECHEAP_CONTACT_COUNTRY: contact.country,
    NAMECHEAP_CONTACT_PHONE: contact.phone,
    NAMECHEAP_CONTACT_EMAIL: contact.email
  })
  return RegistrarNamecheap.layer({
    apiUrl:
      apiUrl ?? (sandbox ? "https://api.sandbox.namecheap.com/xml.response" : "https://api.namecheap.com/xml.response"),
    apiUser: given.NAMECHEAP_API_USER,
    apiKey: given.NAMECHEAP_API_KEY,
    clientIp: given.NAMECHEAP_CLIENT_IP,
    contact: {
      firstName: given.NAMECHEAP_CONTACT_FIRST_NAME,
      lastName: given.NAMECHEAP_CONTACT_LAST_NAME,
      address: given.NAMECHEAP_CONTACT_ADDRESS,
      city: given.NAMECHEAP_CONTACT_CITY,
      state: given.NAMECHEAP_CONTACT_STATE,
      postalCode: given.NAMECHEAP_CONTACT_POSTAL_CODE,
      country: given.NAMECHEAP_CONTACT_COUNTRY,
      phone: given.NAMECHEAP_CONTACT_PHONE,
      email: given.NAMECHEAP_CONTACT_EMAIL
    }
  })
})

const openprovider = Effect.gen(function* () {
  const { apiUrl, nsGroup, ownerHandle, password, sandbox, username } = yield* Settings.openprovider
  if (username === undefined && password === undefined) return undefined
  const given = yield* whole({
    OPENPROVIDER_USERNAME: username,
    OPENPROVIDER_PASSWORD: password,
    OPENPROVIDER_OWNER_HANDLE: ownerHandle
  })
  return RegistrarOpenprovider.layer({
    apiUrl:
      apiUrl ?? (sandbox ? "http://api.sandbox.openprovider.nl:8480/v1beta" : "https://api.openprovider.eu/v1beta"),
    username: given.OPENPROVIDER_USERNAME,
    password: given.OPENPROVIDER_PASSWORD,
    ownerHandle: given.OPENPROVIDER_OWNER_HANDLE,
    nsGroup
  })
})

/** In production play money must not pay a real registrar. Unknown registrars count as real. */
const playMoneyBuysNothingReal = Effect.fnUntraced(function* (own: Iterable<string>) {
  const { billingProvider, production } = yield* Settings.purchase
  if (!production || billingProvider !== "mock") return
  const vendors = { namecheap: yield* Settings.namecheap, openprovider: yield* Settings.openprovider }
  const credentials = { namecheap: vendors.namecheap.apiKey, openprovider: vendors.openprovider.password }
  const real = (["namecheap", "openprovider"] as const).find(
    (name) => credentials[name] !== undefined && !vendors[name].sandbox && vendors[name].apiUrl === undefined
  )
  if (real !== undefined) {
    return yield* new Unconfigured({
      message: `BILLING_PROVIDER: mock gives every workspace $50.00 of play money, and ${real} takes real money. Production needs stripe, or ${real.toUpperCase()}_SANDBOX=true`
    })
  }
  for (const name of own) {
    return yield* new Unconfigured({
      message: `BILLING_PROVIDER: mock gives every workspace $50.00 of play money, and ${name} may take real money. Production needs another billing provider`
    })
  }
})

/**
 * A vendor is configured if its credentials are set, one of `own` always, and the mock one if it is
 * REGISTRAR_PRIMARY.
 */
export const registrarsWith = <E = never, R = never>(own: OwnRegistrars<E, R> = {}) =>
  Layer.effect(
    Registrars,
    Effect.gen(function* () {
      const { registrarPrimary, tldMap } = yield* Settings.purchase
      const ours = {
        mock: registrarPrimary === "mock" ? RegistrarMock.layer : undefined,
        namecheap: yield* namecheap,
        openprovider: yield* openprovider
      }
      const layers: Readonly<
        Record<string, Layer.Layer<Registrar | DnsHost, E | Config.ConfigError, R | SqlClient.SqlClient> | undefined>
      > = { ...ours, ...own }
      const isOurs = (name: string): name is keyof typeof ours => name in ours
      if (!(registrarPrimary in layers)) {
        return yield* unknown("REGISTRAR_PRIMARY", registrarPrimary, Object.keys(layers))
      }
      if (layers[registrarPrimary] === undefined) {
        return yield* new Unconfigured({
          message: `REGISTRAR_PRIMARY: ${registrarPrimary} needs its credentials (${registrarPrimary.toUpperCase()}_…)`
        })
      }
      // A TLD routed to an unconfigured registrar would silently not be sold.
      const nobody = tldMap.find(({ registrar }) => layers[registrar] === undefined)
      if (nobody !== undefined) {
        if (!isOurs(nobody.registrar)) {
          return yield* unknown("REGISTRAR_TLD_MAP", nobody.registrar, Object.keys(layers))
        }
        return yield* new Unconfigured({
          message: `REGISTRAR_TLD_MAP: ${nobody.tld}:${nobody.registrar} names a registrar that is not configured; ${
            nobody.registrar === "mock"
              ? "mock sells only as REGISTRAR_PRIMARY"
              : `it needs its credentials (${nobody.registrar.toUpperCase()}_…)`
          }`
        })
      }
      yield* playMoneyBuysNothingReal(Object.keys(own))
      const vendors = new Map<RegistrarName, Vendor>()
      for (const name of new Set([registrarPrimary, ...Object.keys(layers)])) {
        const layer = layers[name]
        if (layer === undefined) continue
        const context = yield* Layer.build(layer)
        const vendor = { registrar: Context.get(context, Registrar), dnsHost: Context.get(context, DnsHost) }
        if (vendor.registrar.name !== name) return yield* misnamed("REGISTRAR_PRIMARY", name, vendor.registrar.name)
        vendors.set(vendor.registrar.name, vendor)
      }
      return vendors
    })
  )

/** The resolver answers the mock registrar's zones too. */
export const resolver = Layer.unwrap(
  Effect.gen(function* () {
    const { registrarPrimary } = yield* Settings.purchase
    return registrarPrimary === "mock" ? MockZone.layer.pipe(Layer.provide(Resolver.layer)) : Resolver.layer
  })
)

/** The scanner of `MAIL_SCANNER`. */
export const scanner = Layer.unwrap(
  Effect.gen(function* () {
    const { name, password, url } = yield* Settings.scanner
    const { concurrency } = yield* Settings.scanning
    if (name === "none") return MailScanner.layerNone
    return MailScannerRspamd.layer({ url, password, connections: concurrency })
  })
)

/** Every seam as the settings choose it, among built-in and these implementations. */
export const layerWith = <
  E1 = never,
  R1 = never,
  E2 = never,
  R2 = never,
  E3 = never,
  R3 = never,
  E4 = never,
  R4 = never
>(
  own: {
    readonly registrars?: OwnRegistrars<E1, R1>
    readonly billings?: OwnBillings<E2, R2>
    /** Signs webhook requests instead of HMAC with the workspace's secrets. */
    readonly signer?: Layer.Layer<WebhookSigner, E3, R3>
    /** Issues the certificate of `MX_HOST` instead of `ACME_DIRECTORY`, which still has to be set. */
    readonly authority?: Layer.Layer<CertificateAuthority>
    /** Scans mail instead of the scanner of `MAIL_SCANNER`. */
    readonly scanner?: Layer.Layer<MailScanner, E4, R4>
  } = {}
) => {
  const signer: Layer.Layer<WebhookSigner, E3, R3> = own.signer ?? WebhookSigner.layer
  const scans: Layer.Layer<MailScanner, E4 | Config.ConfigError, R4> = own.scanner ?? scanner
  return Layer.mergeAll(
    rawStore,
    resolver,
    registrarsWith(own.registrars),
    billingWith(own.billings),
    signer,
    ChosenAuthority.layerWith(own.authority),
    scans
  )
}

/** Every seam as the settings choose it. */
export const layer = layerWith()
