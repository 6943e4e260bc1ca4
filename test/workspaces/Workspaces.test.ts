import { createHash, createHmac } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { Array, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Mail from "../Mail.ts"
import { TestInlet } from "../TestInlet.ts"
import { type ReceivedRequest, WebhookReceiver } from "../WebhookReceiver.ts"

const create = Effect.fnUntraced(function* (name: unknown) {
  const inlet = yield* TestInlet
  return yield* inlet.call("POST", "/api/workspaces", { body: { name } })
})

/** Whether a key opens its workspace. */
const works = Effect.fnUntraced(function* (key: string) {
  const inlet = yield* TestInlet
  const { status } = yield* inlet.call("GET", "/api/domains", { key })
  return status === 200
})

interface Row {
  readonly name: string
  readonly apiKeyHash: Uint8Array
  readonly signingSecret: Uint8Array
  readonly previousSigningSecret: Uint8Array | null
}

const rowOf = Effect.fnUntraced(function* (id: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<Row>`SELECT * FROM workspaces WHERE id = ${id}`
  return row === undefined ? yield* Effect.die(`no workspace ${id}`) : row
})

/** Whether a header of the form `t=…,v1=…` has a signature with this secret (spec, section 6). */
const signedWith = (request: ReceivedRequest, header: string, secret: string) => {
  const [, seconds, signature] = /^t=(\d+),v1=([\da-f]{64})$/.exec(String(request.headers[header])) ?? []
  return createHmac("sha256", secret).update(`${seconds}.`).update(request.body).digest("hex") === signature
}

layer(Layer.merge(TestInlet.layer(), WebhookReceiver.layer), { excludeTestServices: true })("Workspaces", (it) => {
  it.effect("are created without a key and show theirs once", () =>
    Effect.gen(function* () {
      const { json, status } = yield* create("Ada's agents")
      assert.strictEqual(status, 201)
      assert.deepStrictEqual(Object.keys(json), ["workspace_id", "api_key", "webhook_signing_secret"])
      assert.match(json.workspace_id, /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
      assert.match(json.api_key, /^ak_live_[\w-]{43}$/)
      assert.lengthOf(Buffer.from(json.api_key.slice("ak_live_".length), "base64url"), 32)
      assert.match(json.webhook_signing_secret, /^whsec_[A-Za-z\d+/]{43}=$/)
      assert.lengthOf(Buffer.from(json.webhook_signing_secret.slice("whsec_".length), "base64"), 32)
      assert.isTrue(yield* works(json.api_key))
    })
  )

  it.effect("are unlimited in development, each with its own key and secret", () =>
    Effect.gen(function* () {
      const answers = yield* Effect.forEach(Array.range(1, 10), () => create("the same name"), {
        concurrency: "unbounded"
      })
      for (const field of ["workspace_id", "api_key", "webhook_signing_secret"]) {
        assert.lengthOf(Array.dedupe(answers.map(({ json }) => json[field])), 10)
      }
    })
  )

  it.effect("trim their name and otherwise keep it", () =>
    Effect.gen(function* () {
      const names: ReadonlyArray<readonly [given: string, kept: string]> = [
        ["a", "a"],
        ["  \t Ada \n ", "Ada"],
        ["x".repeat(100), "x".repeat(100)],
        [`  ${"x".repeat(100)}  `, "x".repeat(100)],
        ["🛩️ émigré 日本", "🛩️ émigré 日本"],
        ["🛩".repeat(100), "🛩".repeat(100)],
        [
          "<script>alert('1')</script>; DROP TABLE workspaces --",
          "<script>alert('1')</script>; DROP TABLE workspaces --"
        ]
      ]
      for (const [given, kept] of names) {
        const { json, status } = yield* create(given)
        assert.strictEqual(status, 201, JSON.stringify(given))
        assert.strictEqual((yield* rowOf(json.workspace_id)).name, kept)
      }
    })
  )

  it.effect("refuse an empty, overlong or malformed name", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const count = Effect.map(sql`SELECT 1 FROM workspaces`, (rows) => rows.length)
      const before = yield* count
      const names = [
        "",
        "   ",
        "\u00a0\u2003",
        "x".repeat(101),
        "🛩".repeat(101),
        "x".repeat(100_000),
        "a\0b",
        "a\nb",
        "a\r\nb",
        "a\tb",
        "a\u001b[31mb",
        "a\u007fb",
        "a\u0085b",
        "a\ud800b",
        null,
        5,
        true,
        ["a"],
        { name: "a" },
        undefined,
        "\u202eevil",
        "a\u200bb",
        "\u200d"
      ]
      for (const name of names) {
        const { json, status } = yield* create(name)
        assert.strictEqual(status, 400, JSON.stringify(name)?.slice(0, 40))
        assert.deepStrictEqual(Object.keys(json), ["error"])
        assert.match(json.error, /^name: Expected /)
        assert.isBelow(json.error.length, 200)
      }
      assert.strictEqual(yield* count, before)
    })
  )

  it.effect("store the SHA-256 of the key and the encrypted secret", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { id, key, secret } = yield* inlet.workspace
      const row = yield* rowOf(id)
      assert.strictEqual(Buffer.from(row.apiKeyHash).toString("hex"), createHash("sha256").update(key).digest("hex"))
      const stored = Buffer.from(row.signingSecret)
      // A 12-byte nonce, the secret, and a 16-byte tag.
      assert.lengthOf(stored, 12 + secret.length + 16)
      for (const plain of [secret, secret.slice("whsec_".length), secret.slice(-8)]) {
        assert.isFalse(stored.includes(plain))
        assert.isFalse(stored.includes(Buffer.from(plain, "base64")))
      }
    })
  )

  it.effect("refuse the old key as soon as it is replaced", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { key } = yield* inlet.inbox()
      const { json, status } = yield* inlet.call("POST", "/api/workspaces/rotate-key", { key })
      assert.strictEqual(status, 200)
      assert.deepStrictEqual(Object.keys(json), ["api_key"])
      assert.match(json.api_key, /^ak_live_[\w-]{43}$/)
      assert.notStrictEqual(json.api_key, key)

      assert.strictEqual((yield* inlet.call("GET", "/api/domains", { key })).status, 401)
      assert.strictEqual((yield* inlet.call("POST", "/api/workspaces/rotate-key", { key })).status, 401)
      const domains = yield* inlet.call("GET", "/api/domains", { key: json.api_key })
      assert.lengthOf(domains.json.domains, 1)
    })
  )

  it.effect("have one key after ten concurrent replacements", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { key } = yield* inlet.workspace
      const answers = yield* Effect.forEach(
        Array.range(1, 10),
        () => inlet.call("POST", "/api/workspaces/rotate-key", { key }),
        { concurrency: "unbounded" }
      )
      const working = yield* Effect.filter(
        answers.filter(({ status }) => status === 200).map(({ json }) => json.api_key as string),
        works
      )
      assert.lengthOf(working, 1)
      assert.isFalse(yield* works(key))
    })
  )

  it.effect("sign with the new secret after a rotation, and with the old one too for a day", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const receiver = yield* WebhookReceiver
      const sql = yield* SqlClient.SqlClient
      const inbox = yield* inlet.inbox(receiver.url)
      const rotate = inlet.call("POST", "/api/workspaces/rotate-secret", { key: inbox.key })
      const deliver = Effect.andThen(Mail.send(inlet.smtpPort, { to: inbox.address }), receiver.next)

      const unrotated = yield* deliver
      assert.isTrue(signedWith(unrotated, "x-service-signature", inbox.secret))
      assert.notProperty(unrotated.headers, "x-service-signature-previous")

      const { json, status } = yield* rotate
      assert.strictEqual(status, 200)
      assert.deepStrictEqual(Object.keys(json), ["webhook_signing_secret"])
      assert.match(json.webhook_signing_secret, /^whsec_[A-Za-z\d+/]{43}=$/)
      const second: string = json.webhook_signing_secret
      const rotated = yield* deliver
      assert.isTrue(signedWith(rotated, "x-service-signature", second))
      assert.isFalse(signedWith(rotated, "x-service-signature", inbox.secret))
      assert.isTrue(signedWith(rotated, "x-service-signature-previous", inbox.secret))

      // A second rotation within the day shifts the pair by one.
      const third: string = (yield* rotate).json.webhook_signing_secret
      const again = yield* deliver
      assert.isTrue(signedWith(again, "x-service-signature", third))
      assert.isTrue(signedWith(again, "x-service-signature-previous", second))
      assert.isFalse(signedWith(again, "x-service-signature-previous", inbox.secret))

      yield* sql`
          UPDATE workspaces SET previous_secret_until = previous_secret_until - interval '24 hours'
          WHERE id = (SELECT workspace_id FROM domains WHERE id = ${inbox.domainId})
        `
      const dayAfter = yield* deliver
      assert.isTrue(signedWith(dayAfter, "x-service-signature", third))
      assert.notProperty(dayAfter.headers, "x-service-signature-previous")
    })
  )

  it.effect("encrypt the rotated secrets too, and keep the key", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { id, key, secret } = yield* inlet.workspace
      const before = yield* rowOf(id)
      const { json } = yield* inlet.call("POST", "/api/workspaces/rotate-secret", { key })
      const after = yield* rowOf(id)
      assert.deepStrictEqual(after.previousSigningSecret, before.signingSecret)
      assert.deepStrictEqual(after.apiKeyHash, before.apiKeyHash)
      assert.isFalse(Buffer.from(after.signingSecret).includes(json.webhook_signing_secret))
      assert.notStrictEqual(json.webhook_signing_secret, secret)
      assert.isTrue(yield* works(key))
    })
  )
})
