import assert from "node:assert/strict"
import { createHmac } from "node:crypto"
import { createServer, type IncomingHttpHeaders } from "node:http"
import { test } from "node:test"
import { setTimeout as wait } from "node:timers/promises"
import { Effect, Layer } from "effect"
import { SigningFailed, WebhookSigner } from "inlet-mail/service"
import { FakeSigner, TestInlet } from "inlet-mail/testing"
import { verifySync } from "inlet-mail/webhook"

/** A key store in another process, such as a KMS, that signs without revealing its key. */
const keyStore = {
  sign: (bytes: Uint8Array): Promise<string> =>
    wait(20).then(() => createHmac("sha256", "a key that stays there").update(bytes).digest("hex"))
}

/** Signs webhook requests with the key of the store. */
const signedByStore = Layer.succeed(WebhookSigner, {
  sign: ({ body, eventId, seconds }) =>
    Effect.tryPromise({
      try: () => keyStore.sign(Buffer.concat([Buffer.from(`${eventId}.${seconds}.`), body])),
      catch: (cause) => new SigningFailed({ message: `the key store did not sign: ${String(cause)}` })
    }).pipe(
      Effect.map((signature) => ({
        "X-Service-Event-Id": eventId,
        "X-Service-Timestamp": `${seconds}`,
        "X-Key-Store-Signature": signature
      }))
    )
})

interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A webhook that stores its first request. */
const webhook = Effect.acquireRelease(
  Effect.callback<{ readonly url: string; readonly first: Promise<Received>; readonly close: () => void }>((resume) => {
    const { promise, resolve } = Promise.withResolvers<Received>()
    const server = createServer((request, response) => {
      let body = ""
      request.on("data", (piece) => (body += piece))
      request.on("end", () => {
        response.end()
        resolve({ headers: request.headers, body })
      })
    })
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      const port = typeof address === "object" ? address?.port : undefined
      resume(Effect.succeed({ url: `http://127.0.0.1:${port}/hook`, first: promise, close: () => server.close() }))
    })
  }),
  ({ close }) => Effect.sync(close)
)

/** The webhook request of a mail, and the workspace's secret. */
const requestOfAMail = Effect.gen(function* () {
  const inlet = yield* TestInlet
  const { first, url } = yield* webhook
  const inbox = yield* inlet.inbox(url)
  assert.match(yield* inlet.send({ to: inbox.address, subject: "signed" }), /^250 /)
  return { ...(yield* Effect.promise(() => first)), secret: inbox.secret }
}).pipe(Effect.scoped)

test("an asynchronous signer, whose key is elsewhere, signs the exact bytes", () =>
  Effect.runPromise(
    Effect.gen(function* () {
      const { body, headers } = yield* requestOfAMail
      const signed = `${JSON.parse(body).event_id}.${headers["x-service-timestamp"]}.${body}`
      assert.equal(headers["x-key-store-signature"], yield* Effect.promise(() => keyStore.sign(Buffer.from(signed))))
    }).pipe(Effect.provide(TestInlet.layer({ signer: signedByStore })))
  ))

test("a receiver sees the forged signature of a fake signer, and refuses it", () => {
  const forged = FakeSigner.make({ "X-Service-Signature": "t=1,v1=00", "X-Service-Event-Id": "forged" })
  return Effect.runPromise(
    Effect.gen(function* () {
      const { body, headers, secret } = yield* requestOfAMail
      assert.equal(headers["x-service-signature"], "t=1,v1=00")
      assert.equal(forged.requests.length, 1)
      assert.throws(() => verifySync({ headers, rawBody: body, secret }))
    }).pipe(Effect.provide(TestInlet.layer({ signer: forged.layer })))
  )
})
