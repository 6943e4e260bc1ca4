import { Config, Schema } from "effect"
import { BillingProvider, RegistrarName } from "../model/Order.ts"
import { publicUrl } from "./ApiSettings.ts"
import { production } from "./ProcessSettings.ts"
import * as Setting from "./Setting.ts"
import { beginningWith, Cents, commaSeparated, Flag, HttpUrl, Secret, TldRoute } from "./SettingText.ts"

const { section, setting } = Setting.section("Buying domains")

export { section }

const registrarPrimary = setting(
  "REGISTRAR_PRIMARY",
  RegistrarName,
  RegistrarName.make("mock"),
  "registrar to use at equal prices: `mock`, `namecheap` or `openprovider`"
)

const registrarTldMap = setting(
  "REGISTRAR_TLD_MAP",
  commaSeparated(TldRoute),
  [],
  "registrars by TLD, as comma-separated `tld:registrar`",
  "none: all registrars for all TLDs"
)

const billingProvider = setting(
  "BILLING_PROVIDER",
  BillingProvider,
  BillingProvider.make("mock"),
  "`mock` charges a play-money wallet, `stripe` uses Stripe Checkout"
)

const markup = setting("DOMAIN_MARKUP_CENTS", Cents, 299, "added to the wholesale price of an order, in US cents")

const stripeSecretKey = setting(
  "STRIPE_SECRET_KEY",
  beginningWith(/^(sk|rk)_/, "Expected a secret key of Stripe, which begins with sk_ or rk_"),
  undefined,
  "secret key of the Stripe account"
)

const stripeWebhookSecret = setting(
  "STRIPE_WEBHOOK_SECRET",
  beginningWith(/^whsec_/, "Expected the signing secret of a Stripe webhook, which begins with whsec_"),
  undefined,
  "signing secret of the Stripe webhook at `/api/webhooks/stripe`"
)

const stripeApiUrl = setting(
  "STRIPE_API_URL",
  HttpUrl,
  undefined,
  "another address of Stripe's API, for tests",
  "Stripe's own"
)

const namecheapApiUser = setting("NAMECHEAP_API_USER", Schema.NonEmptyString, undefined, "Namecheap user name")

const namecheapApiKey = setting("NAMECHEAP_API_KEY", Secret, undefined, "Namecheap API key")

const namecheapClientIp = setting(
  "NAMECHEAP_CLIENT_IP",
  Schema.NonEmptyString,
  undefined,
  "this machine's public IPv4 address, as whitelisted at Namecheap"
)

const namecheapSandbox = setting("NAMECHEAP_SANDBOX", Flag, false, "asks Namecheap's sandbox")

const contact = (name: string, meaning: string) =>
  setting(`NAMECHEAP_CONTACT_${name}`, Schema.NonEmptyString, undefined, meaning)

const namecheapContact = Config.all({
  firstName: contact("FIRST_NAME", "first name of the registrant"),
  lastName: contact("LAST_NAME", "last name of the registrant"),
  address: contact("ADDRESS", "street address of the registrant"),
  city: contact("CITY", "city of the registrant"),
  state: contact("STATE", "state or province of the registrant"),
  postalCode: contact("POSTAL_CODE", "postal code of the registrant"),
  country: contact("COUNTRY", "country of the registrant, two letters"),
  phone: contact("PHONE", "telephone of the registrant, such as +1.5551234567"),
  email: contact("EMAIL", "email address of the registrant")
})

const namecheapApiUrl = setting(
  "NAMECHEAP_API_URL",
  HttpUrl,
  undefined,
  "URL of Namecheap's API, for tests",
  "Namecheap's own"
)

const openproviderUsername = setting(
  "OPENPROVIDER_USERNAME",
  Schema.NonEmptyString,
  undefined,
  "Openprovider user name"
)

const openproviderPassword = setting("OPENPROVIDER_PASSWORD", Secret, undefined, "Openprovider password")

const openproviderSandbox = setting("OPENPROVIDER_SANDBOX", Flag, false, "asks Openprovider's sandbox")

const openproviderOwner = setting(
  "OPENPROVIDER_OWNER_HANDLE",
  Schema.NonEmptyString,
  undefined,
  "contact handle of the registrant"
)

const openproviderNsGroup = setting(
  "OPENPROVIDER_NS_GROUP",
  Schema.NonEmptyString,
  undefined,
  "name server group for new domains",
  "Openprovider's own"
)

const openproviderApiUrl = setting(
  "OPENPROVIDER_API_URL",
  HttpUrl,
  undefined,
  "URL of Openprovider's API, for tests",
  "Openprovider's own"
)

export const purchase = Config.all({
  registrarPrimary,
  tldMap: registrarTldMap,
  billingProvider,
  markupCents: markup,
  publicUrl,
  production
})

export const stripe = Config.all({
  secretKey: stripeSecretKey,
  webhookSecret: stripeWebhookSecret,
  apiUrl: stripeApiUrl
})

export const namecheap = Config.all({
  apiUser: namecheapApiUser,
  apiKey: namecheapApiKey,
  clientIp: namecheapClientIp,
  sandbox: namecheapSandbox,
  contact: namecheapContact,
  apiUrl: namecheapApiUrl
})

export const openprovider = Config.all({
  username: openproviderUsername,
  password: openproviderPassword,
  sandbox: openproviderSandbox,
  ownerHandle: openproviderOwner,
  nsGroup: openproviderNsGroup,
  apiUrl: openproviderApiUrl
})
