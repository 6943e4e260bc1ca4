import { createHmac } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, FileSystem } from "effect"
import * as ApiReference from "../../docs/ApiReference.ts"
import * as ClientTypes from "../../docs/ClientTypes.ts"
import * as SettingsReference from "../../docs/SettingsReference.ts"
import * as VerifySamples from "../../docs/VerifySamples.ts"
import * as Settings from "../../src/Settings.ts"
import type { Documented } from "../../src/settings/Setting.ts"

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8")

const readme = read("README.md")

const rowsOf = (text: string) => text.split("\n").filter((line) => line.startsWith("| `"))
const rowOf = ({ fallback, meaning, name }: Documented) => `| \`${name}\` | ${fallback} | ${meaning} |`

describe("The documentation", () => {
  it("lists every setting in docs/settings.md with default and meaning", () => {
    const settings = read("docs/settings.md")
    assert.deepStrictEqual(rowsOf(settings), Settings.documented.map(rowOf))
    assert.strictEqual(settings, SettingsReference.page(), "npm run docs writes it anew")
  })

  it("has the code of the console that verifies requests in docs/how-to/verify-webhooks.md", () => {
    const page = read("docs/how-to/verify-webhooks.md")
    assert.include(page, "### Ruby")
    assert.strictEqual(page, VerifySamples.within(page), "npm run docs writes it anew")
  })

  it("lists the ten settings of a newcomer in the README, including those for production", () => {
    const [, section = ""] = /\n## Settings\n([\s\S]*?)\n## /.exec(readme) ?? []
    const rows = rowsOf(section)
    assert.lengthOf(rows, 10)
    assert.includeMembers(Settings.documented.map(rowOf), rows, "npm run docs writes them anew")
    assert.includeMembers(
      rows,
      Settings.documented.filter(({ fallback }) => fallback.includes("required in production")).map(rowOf)
    )
    assert.include(section, "(docs/settings.md)")
  })

  it("lists every setting in .env.example, commented out", () => {
    const plain = (text: string) => text.replaceAll("`", "")
    const [, ...entries] = read(".env.example").trimEnd().split("\n\n")
    assert.deepStrictEqual(
      entries,
      Settings.documented.map(
        ({ fallback, meaning, name }) => `# ${plain(meaning)}\n# Default: ${plain(fallback)}\n#${name}=`
      ),
      "npm run docs writes it anew"
    )
  })

  it("has an API reference that matches the contract", () =>
    assert.strictEqual(read("docs/api.md"), ApiReference.render(), "npm run docs writes it anew"))

  it("has client types that match the contract", () =>
    assert.strictEqual(read("src/client/Contract.ts"), ClientTypes.render(), "npm run docs writes them anew"))

  it("names existing settings and log lines in the walk through providers", () => {
    const page = read("docs/providers.md")
    const set = [...page.matchAll(/^([A-Z0-9_]+)=/gm)].map(([, name = ""]) => name)
    assert.isAbove(set.length, 20)
    assert.includeMembers(
      Settings.documented.map(({ name }) => name),
      set
    )
    assert.include(read("src/purchase/Search.ts"), "did not quote and is left out")
    const callbacks = [...page.matchAll(/checkout\.session\.\w+/g)].map(([name]) => name)
    for (const name of callbacks) assert.include(read("src/providers/billing/StripeCallback.ts"), `case "${name}"`)
  })

  it("lists every metric in docs/how-to/monitor.md", () => {
    const sources = readdirSync(new URL("../../src", import.meta.url), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .map((file) => read(`src/${file}`))
    const declared = sources.flatMap((source) =>
      [...source.matchAll(/Metric\.\w+\(\s*"(inlet_\w+)"/g)].map(([, name = ""]) => name)
    )
    const documented = [...read("docs/how-to/monitor.md").matchAll(/^\| `(inlet_\w+)` \|/gm)].map(
      ([, name = ""]) => name
    )
    assert.isNotEmpty(declared)
    assert.deepStrictEqual(documented.sort(), declared.sort())
  })
})

describe("The verification without a library in docs/how-to/verify-webhooks.md", () => {
  const body = '{"event_id":"0198c5d2-7a3e-7000-8000-000000000001","subject":"Grüße"}'
  const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
  const signed = (seconds: number, text = body) => ({
    "x-service-event-id": "0198c5d2-7a3e-7000-8000-000000000001",
    "x-service-timestamp": `${seconds}`,
    "x-service-signature": `t=${seconds},v1=${createHmac("sha256", secret).update(`${seconds}.${text}`).digest("hex")}`
  })

  const snippet = Effect.gen(function* () {
    const [, code = ""] =
      /```js\n((?:(?!```)[\s\S])*isGenuine[\s\S]*?)```/.exec(read("docs/how-to/verify-webhooks.md")) ?? []
    const fs = yield* FileSystem.FileSystem
    const file = `${yield* fs.makeTempDirectoryScoped()}/verify.mjs`
    yield* fs.writeFileString(file, code)
    const module: {
      readonly isGenuine: (headers: Record<string, string>, rawBody: Buffer, secret: string) => boolean
    } = yield* Effect.promise(() => import(file))
    return {
      isGenuine: (headers: Record<string, string>, text = body) => module.isGenuine(headers, Buffer.from(text), secret),
      seconds: Math.floor((yield* Clock.currentTimeMillis) / 1_000)
    }
  })

  it.live("accepts a genuine request up to 300 s old", () =>
    Effect.gen(function* () {
      const { isGenuine, seconds } = yield* snippet
      assert.isTrue(isGenuine(signed(seconds)))
      assert.isTrue(isGenuine(signed(seconds - 295)))
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("rejects the requests that the specification rejects", () =>
    Effect.gen(function* () {
      const { isGenuine, seconds } = yield* snippet
      assert.isFalse(isGenuine(signed(seconds), body.replace("Grüße", "Grusse")), "another body")
      assert.isFalse(isGenuine(signed(seconds - 305)), "too old")
      assert.isFalse(isGenuine(signed(seconds + 305)), "from the future")
      assert.isFalse(isGenuine({ ...signed(seconds), "x-service-event-id": "another" }), "another event")
      assert.isFalse(isGenuine({ ...signed(seconds), "x-service-timestamp": `${seconds - 1}` }), "another timestamp")
      assert.isFalse(isGenuine({ ...signed(seconds), "x-service-signature": "v1=00" }), "a malformed signature")
      assert.isFalse(isGenuine({ ...signed(seconds), "x-service-signature": `t=${seconds},v1=00` }), "a short one")
      assert.isFalse(isGenuine({}), "no headers")
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
