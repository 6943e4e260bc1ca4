import { NodeServices } from "@effect/platform-node"
import { assert, describe, layer } from "@effect/vitest"
import { Config, ConfigProvider, Context, Effect, FileSystem, Layer } from "effect"
import { Billing } from "../../src/providers/billing/Billing.ts"
import * as Providers from "../../src/providers/Providers.ts"
import { Registrars } from "../../src/providers/registrar/Registrars.ts"
import * as Settings from "../../src/Settings.ts"
import * as FakeBilling from "../../src/testing/FakeBilling.ts"
import * as FakeRegistrar from "../../src/testing/FakeRegistrar.ts"
import * as InletProcess from "../InletProcess.ts"
import * as TestDatabase from "../TestDatabase.ts"
import { namecheapSettings, openproviderSettings } from "./Shop.ts"

const stripe = {
  BILLING_PROVIDER: "stripe",
  STRIPE_SECRET_KEY: "sk_test_fdb5c8f7e2",
  STRIPE_WEBHOOK_SECRET: "whsec_b06e9a1c44"
}
const namecheap = namecheapSettings("http://127.0.0.1:1/xml.response")
const openprovider = openproviderSettings("http://127.0.0.1:1/v1beta")

const production = {
  NODE_ENV: "production",
  DATABASE_URL: "postgres://inlet@127.0.0.1:1/inlet",
  SECRETS_KEY: "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
  SERVICE_PUBLIC_URL: "https://inlet.example.com",
  PLATFORM_DOMAIN: "example.com"
}

type Env = Readonly<Record<string, string>>

const without = (env: Env, ...names: ReadonlyArray<string>): Env =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !names.includes(name)))

/** The providers under these settings, after all settings are read as in a start. */
const built = Effect.fnUntraced(function* (env: Env, providers: typeof Providers.layer = Providers.layer) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* Effect.acquireRelease(fs.makeTempDirectory({ prefix: "inlet-test-" }), (made) =>
    // Tasks started before the refusal may still write there.
    Effect.ignore(fs.remove(made, { recursive: true }))
  )
  const provider = ConfigProvider.layer(ConfigProvider.fromEnv({ env: { DATA_DIR: folder, ...env } }))
  return yield* Layer.build(
    Layer.fresh(providers).pipe(Layer.provide(Layer.effectDiscard(Settings.all)), Layer.provide(provider))
  )
})

/** The last line of a start. */
const refusal = (env: Env, providers?: typeof Providers.layer) =>
  Effect.flip(built(env, providers)).pipe(
    Effect.map((error) => (error instanceof Config.ConfigError ? Settings.explain(error) : error.message))
  )

/** The message for each invalid configuration. */
const wrong: Readonly<Record<string, readonly [env: Env, line: string]>> = {
  "Stripe without its key": [
    without(stripe, "STRIPE_SECRET_KEY"),
    "STRIPE_SECRET_KEY: Missing beside BILLING_PROVIDER, STRIPE_WEBHOOK_SECRET"
  ],
  "Stripe without the secret of its callbacks": [
    without(stripe, "STRIPE_WEBHOOK_SECRET"),
    "STRIPE_WEBHOOK_SECRET: Missing beside BILLING_PROVIDER, STRIPE_SECRET_KEY"
  ],
  "Stripe with a key for browsers": [
    { ...stripe, STRIPE_SECRET_KEY: "pk_live_fdb5c8f7e2" },
    "STRIPE_SECRET_KEY: Expected a secret key of Stripe, which begins with sk_ or rk_"
  ],
  "Stripe with its key in the place of the callbacks' secret": [
    { ...stripe, STRIPE_WEBHOOK_SECRET: stripe.STRIPE_SECRET_KEY },
    "STRIPE_WEBHOOK_SECRET: Expected the signing secret of a Stripe webhook, which begins with whsec_"
  ],
  "Stripe at no address": [
    { ...stripe, STRIPE_API_URL: "stripe" },
    "STRIPE_API_URL: Expected an http or https URL such as https://host.example"
  ],
  "Namecheap with a user alone": [
    { NAMECHEAP_API_USER: "inlet", NAMECHEAP_CLIENT_IP: "192.0.2.10" },
    `${Object.keys(without(namecheap, "NAMECHEAP_API_URL", "NAMECHEAP_API_USER", "NAMECHEAP_CLIENT_IP")).join(", ")}: Missing beside NAMECHEAP_API_USER, NAMECHEAP_CLIENT_IP`
  ],
  "Openprovider without a password": [
    without(openprovider, "OPENPROVIDER_PASSWORD"),
    "OPENPROVIDER_PASSWORD: Missing beside OPENPROVIDER_USERNAME, OPENPROVIDER_OWNER_HANDLE"
  ],
  "Openprovider without an owner": [
    without(openprovider, "OPENPROVIDER_OWNER_HANDLE"),
    "OPENPROVIDER_OWNER_HANDLE: Missing beside OPENPROVIDER_USERNAME, OPENPROVIDER_PASSWORD"
  ],
  "a primary registrar without credentials": [
    { REGISTRAR_PRIMARY: "openprovider", ...namecheap },
    "REGISTRAR_PRIMARY: openprovider needs its credentials (OPENPROVIDER_…)"
  ],
  "an unknown primary registrar": [
    { REGISTRAR_PRIMARY: "acme" },
    "REGISTRAR_PRIMARY: acme is unknown. Known: mock, namecheap, openprovider"
  ],
  "a malformed primary registrar": [
    { REGISTRAR_PRIMARY: "Acme Inc" },
    "REGISTRAR_PRIMARY: Expected a name such as namecheap, in lower-case letters"
  ],
  "a TLD map to an unknown registrar": [
    { REGISTRAR_TLD_MAP: "com:acme" },
    "REGISTRAR_TLD_MAP: acme is unknown. Known: mock, namecheap, openprovider"
  ],
  "an unknown billing provider": [
    { BILLING_PROVIDER: "acme" },
    "BILLING_PROVIDER: acme is unknown. Known: mock, stripe"
  ],
  "a malformed TLD map": [
    { REGISTRAR_TLD_MAP: "com=namecheap" },
    "REGISTRAR_TLD_MAP: Expected pairs such as com:namecheap,io:openprovider"
  ],
  "a TLD map to a registrar without credentials": [
    { ...openprovider, REGISTRAR_TLD_MAP: "com:openprovider,io:namecheap" },
    "REGISTRAR_TLD_MAP: io:namecheap names a registrar that is not configured; it needs its credentials (NAMECHEAP_…)"
  ],
  "a TLD map to the mock registrar beside a real one": [
    { ...openprovider, REGISTRAR_PRIMARY: "openprovider", REGISTRAR_TLD_MAP: "test:mock" },
    "REGISTRAR_TLD_MAP: test:mock names a registrar that is not configured; mock sells only as REGISTRAR_PRIMARY"
  ],
  "a real registrar with play money in production": [
    { ...production, ...without(openprovider, "OPENPROVIDER_API_URL") },
    "BILLING_PROVIDER: mock gives every workspace $50.00 of play money, and openprovider takes real money. Production needs stripe, or OPENPROVIDER_SANDBOX=true"
  ],
  "a negative markup": [
    { DOMAIN_MARKUP_CENTS: "-299" },
    "DOMAIN_MARKUP_CENTS: Expected a whole number of US cents, such as 299 for $2.99"
  ]
}

layer(Layer.mergeAll(TestDatabase.layer, NodeServices.layer), { excludeTestServices: true })("Credentials", (it) => {
  describe("The start is refused, with a line that names the settings, for", () => {
    for (const [what, [env, line]] of Object.entries(wrong)) {
      it.effect(what, () => Effect.map(refusal(env), (said) => assert.strictEqual(said, line)))
    }

    for (const name of Object.keys(without(namecheap, "NAMECHEAP_API_URL"))) {
      it.effect(`Namecheap without ${name}`, () =>
        Effect.gen(function* () {
          const line = yield* refusal(without(namecheap, name))
          assert.isTrue(line.startsWith(`${name}: Missing beside NAMECHEAP_`), line)
          assert.notInclude(line, namecheap.NAMECHEAP_API_KEY)
        })
      )
    }
  })

  describe("A registrar and a billing provider of the operator", () => {
    const acme = FakeRegistrar.make({ name: "acme" }).layer
    const invoices = FakeBilling.make({ name: "invoices" }).layer
    const own = Providers.layerWith({ registrars: { acme }, billings: { invoices } })

    it.effect("are selected as a Layer by the same settings", () =>
      Effect.gen(function* () {
        const env = { BILLING_PROVIDER: "invoices", REGISTRAR_PRIMARY: "acme", REGISTRAR_TLD_MAP: "com:acme" }
        const context = yield* built({ ...env, ...namecheap }, own)
        assert.deepStrictEqual([...Context.get(context, Registrars).keys()].map(String), ["acme", "namecheap"])
        assert.strictEqual<string>(Context.get(context, Billing).provider, "invoices")
      })
    )

    it.effect("can be added to the built-in ones, which remain the default", () =>
      Effect.gen(function* () {
        const context = yield* built({}, own)
        assert.deepStrictEqual([...Context.get(context, Registrars).keys()].map(String), ["mock", "acme"])
        assert.strictEqual<string>(Context.get(context, Billing).provider, "mock")
      })
    )

    it.effect("must return the name they are registered under", () =>
      Effect.gen(function* () {
        assert.strictEqual(
          yield* refusal({}, Providers.layerWith({ registrars: { acne: acme } })),
          "REGISTRAR_PRIMARY: the Layer given as acne has the name acme"
        )
        assert.strictEqual(
          yield* refusal({ BILLING_PROVIDER: "cash" }, Providers.layerWith({ billings: { cash: invoices } })),
          "BILLING_PROVIDER: the Layer given as cash has the name invoices"
        )
      })
    )

    it.effect("cannot be paid with play money in production", () =>
      Effect.gen(function* () {
        assert.strictEqual(
          yield* refusal(production, own),
          "BILLING_PROVIDER: mock gives every workspace $50.00 of play money, and acme may take real money. Production needs another billing provider"
        )
        yield* built({ ...production, BILLING_PROVIDER: "invoices" }, own)
      })
    )
  })

  describe("The configured registrars", () => {
    const orders: Readonly<Record<string, readonly [env: Env, names: ReadonlyArray<string>]>> = {
      "are the mock registrar only by default": [{}, ["mock"]],
      "are those with credentials, after the primary one": [
        { ...namecheap, ...openprovider },
        ["mock", "namecheap", "openprovider"]
      ],
      "exclude the mock registrar beside a real primary one": [
        { ...namecheap, ...openprovider, REGISTRAR_PRIMARY: "openprovider" },
        ["openprovider", "namecheap"]
      ],
      "may be a sandbox with play money, also in production": [
        { ...production, ...without(namecheap, "NAMECHEAP_API_URL"), NAMECHEAP_SANDBOX: "true" },
        ["mock", "namecheap"]
      ],
      "may be those of the TLD map": [
        { ...namecheap, REGISTRAR_TLD_MAP: "com:namecheap,com:mock" },
        ["mock", "namecheap"]
      ]
    }
    for (const [what, [env, names]] of Object.entries(orders)) {
      it.effect(what, () =>
        Effect.map(built(env), (context) => assert.deepStrictEqual([...Context.get(context, Registrars).keys()], names))
      )
    }
  })
})

/** Shared by all starts, because each fails early. */
class Installation extends Context.Service<Installation, Effect.Success<typeof InletProcess.installation>>()(
  "inlet/test/purchase/Installation"
) {
  static readonly layer = Layer.effect(Installation, InletProcess.installation)
}

layer(Installation.layer, { excludeTestServices: true })("The process", (it) => {
  for (const what of ["Stripe without its key", "Openprovider without a password", "Stripe with a key for browsers"]) {
    it.effect(`exits with that line for ${what}, without a secret`, () =>
      Effect.gen(function* () {
        const [env, line] = wrong[what] ?? assert.fail(`no case ${what}`)
        const { inlet } = yield* InletProcess.spawned({ ...(yield* Installation), ...env })
        assert.deepStrictEqual(yield* inlet.ending, { code: 1, signal: null })
        assert.strictEqual(yield* inlet.output, `Inlet can't start: ${line}\n`)
      })
    )
  }
})
