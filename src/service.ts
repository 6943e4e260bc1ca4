// The entry `inlet-mail/service`, for programs that compose the service. It is the only list of exports: inside the
// project each file is imported by its name.
export * as Database from "./database/Database.ts"
export {
  type Credentials,
  type DeliveredEvent,
  type DeliveredMessage,
  type DeliveredParts,
  type FormatRequest,
  type MailPart,
  type Recipe,
  type Stamp,
  WebhookFormat
} from "./delivery/formats/WebhookFormat.ts"
export * as Formats from "./delivery/formats/WebhookFormats.ts"
export * as Inlet from "./Inlet.ts"
export * as ApiError from "./model/ApiError.ts"
export { Domain, DomainId, DomainName } from "./model/Domain.ts"
export { InboundEvent } from "./model/InboundEvent.ts"
export { BillingProvider, Order, OrderId, OrderStatus, RegistrarName } from "./model/Order.ts"
export { Spam } from "./model/Spam.ts"
export { WorkspaceId } from "./model/Workspace.ts"
export * as Platform from "./process/Platform.ts"
export {
  CertificateAuthority,
  type Challenge,
  NotProven,
  type Order as CertificateOrder,
  type OrderError,
  RateLimited,
  Refused as OrderRefused,
  Unreachable
} from "./providers/authority/CertificateAuthority.ts"
export {
  type Bill,
  Billing,
  BillingError,
  type Callback,
  type PaymentNews,
  type WalletStatement
} from "./providers/billing/Billing.ts"
export * as Resolver from "./providers/dns/Resolver.ts"
export * as Providers from "./providers/Providers.ts"
export { DnsHost, type Text, type ZoneRecord } from "./providers/registrar/DnsHost.ts"
export { NameTaken, Refused, Registrar, RegistrarError, Uncertain } from "./providers/registrar/Registrar.ts"
export { Registrars, type Vendor } from "./providers/registrar/Registrars.ts"
export { MailScanner, type Scan, ScanFailed, type Scannable } from "./providers/scanner/MailScanner.ts"
export { type Signable, SigningFailed, type SigningSecrets, WebhookSigner } from "./providers/signing/WebhookSigner.ts"
export { RawStore } from "./providers/storage/RawStore.ts"
export { RawStoreError } from "./providers/storage/RawStoreError.ts"
export * as Settings from "./Settings.ts"
export { StartRefused } from "./start/Start.ts"
export * as Tour from "./start/Tour.ts"
export * as Telemetry from "./telemetry/Telemetry.ts"
