import { randomBytes } from "node:crypto"
import { createServer, type IncomingMessage } from "node:http"
import { NodeHttpClient } from "@effect/platform-node"
import { Clock, Context, type Duration, Effect, FiberSet, Layer } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import StripeLibrary from "stripe"
import * as Ports from "../Ports.ts"
import {
  type Answer,
  broken,
  brokenForGood,
  done,
  hashIn,
  invalid,
  kept,
  missingIn,
  noSuch,
  type Params,
  refundParameters,
  refusal,
  sessionParameters,
  unauthorized,
  wrongIn
} from "./StripeAnswers.ts"

/** https://docs.stripe.com/api/checkout/sessions/object, the fields of payment mode. */
export interface Session {
  readonly id: string
  readonly object: "checkout.session"
  readonly amount_subtotal: number
  readonly amount_total: number
  readonly cancel_url: string | null
  readonly client_reference_id: string | null
  readonly created: number
  readonly currency: string
  readonly expires_at: number
  readonly livemode: boolean
  readonly metadata: Readonly<Record<string, string>>
  readonly mode: "payment"
  /** Null until the customer pays. */
  readonly payment_intent: string | null
  readonly payment_status: "paid" | "unpaid"
  readonly status: "open" | "complete" | "expired"
  readonly success_url: string
  /** Null once the session has ended. */
  readonly url: string | null
}

/** https://docs.stripe.com/api/payment_intents/object, with the fields of its charge that a refund needs. */
export interface Payment {
  readonly id: string
  readonly chargeId: string
  readonly amount: number
  readonly currency: string
  readonly metadata: Readonly<Record<string, string>>
  readonly status: "processing" | "requires_payment_method" | "succeeded"
  readonly refunded: number
}

/** https://docs.stripe.com/api/refunds/object */
export interface Refund {
  readonly id: string
  readonly object: "refund"
  readonly amount: number
  readonly charge: string
  readonly created: number
  readonly currency: string
  readonly metadata: Readonly<Record<string, string>>
  readonly payment_intent: string
  readonly reason: string | null
  readonly status: "pending" | "requires_action" | "succeeded" | "failed" | "canceled"
}

/** https://docs.stripe.com/api/events/object */
export interface StripeEvent {
  readonly id: string
  readonly object: "event"
  readonly api_version: string
  readonly created: number
  readonly data: { readonly object: Session }
  readonly livemode: boolean
  readonly pending_webhooks: number
  readonly request: { readonly id: string | null; readonly idempotency_key: string | null }
  readonly type: string
}

/** An event about a checkout, or about a refund. */
export type SentEvent = Omit<StripeEvent, "data"> & { readonly data: { readonly object: Session | Refund } }

/** One API request. */
export interface Call {
  readonly method: string
  readonly path: string
  readonly idempotencyKey: string | undefined
  /** The form as sent: `line_items[0][price_data][currency]` and so on. */
  readonly params: Readonly<Record<string, string>>
  /** Null before the answer, and permanently if the answer was lost. */
  readonly status: number | null
}

/** Deviations from Stripe's delivery of a callback. */
export interface Delivery {
  /** The number of requests, 1 by default. */
  readonly times?: number
  /** Sends all of them concurrently. */
  readonly atOnce?: boolean
  /** The age of the signature in seconds. Negative for the future. */
  readonly age?: number
  /** A secret other than the endpoint's. */
  readonly secret?: string
}

/**
 * Stripe on a loopback port: Checkout Sessions and refunds as in its API, paying customers, and signed callbacks.
 * Impossible actions of a customer, such as paying twice, fail the test.
 */
export class StripeSimulator extends Context.Service<
  StripeSimulator,
  {
    /** The value for `STRIPE_API_URL`. */
    readonly url: string
    /** The only accepted secret key. */
    readonly secretKey: string
    /** The secret of the callbacks. */
    readonly webhookSecret: string
    /** An event as in its callback. */
    signed(
      event: SentEvent,
      how?: Pick<Delivery, "age" | "secret">
    ): Effect.Effect<{
      readonly rawBody: Uint8Array
      readonly headers: { readonly "user-agent": string; readonly "stripe-signature": string }
    }>

    /** Every API request so far, including refused ones. */
    readonly calls: Effect.Effect<ReadonlyArray<Call>>
    /** Every session in its current state, oldest first. */
    readonly sessions: Effect.Effect<ReadonlyArray<Session>>
    /** Every payment in its current state, oldest first. */
    readonly payments: Effect.Effect<ReadonlyArray<Payment>>
    /** Every refund, oldest first. */
    readonly refunds: Effect.Effect<ReadonlyArray<Refund>>
    /** Every event, oldest first, sent or not, including those of sessions that were expired through the API. */
    readonly events: Effect.Effect<ReadonlyArray<StripeEvent>>

    /** Delays every request by this time before acting. 0 ends it. */
    slow(by: Duration.Input): Effect.Effect<void>
    /** The next requests are answered 500 before any action. */
    failNext(times: number): Effect.Effect<void>
    /** The next requests fail during the action with a 500, which Stripe repeats for the same idempotency key. */
    breakNext(times: number): Effect.Effect<void>
    /** The next requests are executed, and the connection closes without an answer. */
    loseAnswers(times: number): Effect.Effect<void>
    /** The next requests are answered 200 with an HTML page, as from a proxy, without any action. */
    answerRubbish(times: number): Effect.Effect<void>
    /** The next refunds get this status instead of `succeeded`. */
    refundsBecome(status: Refund["status"]): Effect.Effect<void>
    /** Refunds a whole payment, as in the dashboard. A further refund fails with `charge_already_refunded`. */
    refundByHand(paymentId: string): Effect.Effect<void>
    /** Removes the idempotency keys, as Stripe does after a day. */
    readonly forgetKeys: Effect.Effect<void>

    /**
     * The customer pays an open session. Returns the `checkout.session.completed` event, which only `send` sends.
     * With `later` the payment is pending (a bank debit): the event says `unpaid`, and `settle` or `bounce` follows.
     */
    pay(sessionId: string, how?: { readonly later?: boolean }): Effect.Effect<StripeEvent>
    /** The pending payment succeeds: `checkout.session.async_payment_succeeded`. */
    settle(sessionId: string): Effect.Effect<StripeEvent>
    /** The pending payment fails: `checkout.session.async_payment_failed`. */
    bounce(sessionId: string): Effect.Effect<StripeEvent>
    /** An open session expires: `checkout.session.expired`. */
    expire(sessionId: string): Effect.Effect<StripeEvent>

    /**
     * Posts an event to a callback URL, signed by Stripe's own library. Returns the statuses of the answers, null for
     * none. The order of calls is the order of delivery. A changed event (`{ ...event, livemode: true }`) is signed
     * as it is. `age` delays it and `secret` forges it.
     */
    send(event: SentEvent, url: string, how?: Delivery): Effect.Effect<ReadonlyArray<number | null>>
  }
>()("inlet/test/simulators/StripeSimulator") {
  static readonly layer = Layer.effect(
    StripeSimulator,
    Effect.gen(function* () {
      const port = yield* Ports.free
      const url = `http://127.0.0.1:${port}`
      const secretKey = idOf("sk_test")
      const webhookSecret = idOf("whsec")
      const client = yield* HttpClient.HttpClient
      const run = yield* FiberSet.makeRuntime()

      const calls: Array<{ -readonly [Key in keyof Call]: Call[Key] }> = []
      const sessions = new Map<string, Session>()
      const paymentData = new Map<string, Readonly<Record<string, string>>>()
      const payments = new Map<string, Payment>()
      const refunds: Array<Refund> = []
      const events: Array<StripeEvent> = []
      const keys = new Map<string, { readonly request: string; answer: Answer | undefined }>()
      const trouble: Trouble = {
        delay: "0 seconds",
        failing: 0,
        breaking: 0,
        losing: 0,
        rubbish: 0,
        refundStatus: "succeeded"
      }
      const signed: StripeSimulator["Service"]["signed"] = Effect.fnUntraced(function* (
        event,
        { age = 0, secret = webhookSecret } = {}
      ) {
        const payload = JSON.stringify(event, null, 2)
        const timestamp = (yield* seconds) - age
        return {
          rawBody: Buffer.from(payload),
          headers: {
            "user-agent": "Stripe/1.0 (+https://stripe.com/docs/webhooks)",
            // https://docs.stripe.com/webhooks#verify-manually
            "stripe-signature": StripeLibrary.webhooks.generateTestHeaderString({ payload, secret, timestamp })
          }
        }
      })
      const make = (changed: Partial<Trouble>) => Effect.sync(() => void Object.assign(trouble, changed))
      /** Whether this fault applies to this request. */
      const strikes = (kind: "failing" | "breaking" | "losing" | "rubbish") => {
        if (trouble[kind] === 0) return false
        trouble[kind]--
        return true
      }

      const seconds = Effect.map(Clock.currentTimeMillis, (now) => Math.floor(now / 1_000))

      const happened = Effect.fnUntraced(function* (type: string, session: Session) {
        sessions.set(session.id, session)
        const event: StripeEvent = {
          id: idOf("evt"),
          object: "event",
          api_version: StripeLibrary.API_VERSION,
          created: yield* seconds,
          data: { object: session },
          livemode: false,
          pending_webhooks: 1,
          request: { id: null, idempotency_key: null },
          type
        }
        events.push(event)
        return event
      })

      // https://docs.stripe.com/api/checkout/sessions/create
      const openSession = Effect.fnUntraced(function* (params: Params) {
        const wrong = wrongIn(params, sessionParameters) ?? missingIn(params, ["mode", "success_url"])
        if (wrong !== undefined) return wrong
        if (params.mode !== "payment") {
          return invalid({ param: "mode", message: "The simulator knows sessions in payment mode only" })
        }
        const items = [...new Set(Object.keys(params).flatMap((name) => /^line_items\[\d+\]/.exec(name)?.[0] ?? []))]
        if (items.length === 0) {
          return invalid({
            code: "parameter_missing",
            param: "line_items",
            message: "The `line_items` parameter is required in payment mode."
          })
        }
        const incomplete = missingIn(
          params,
          items.flatMap((item) =>
            [
              "[quantity]",
              "[price_data][currency]",
              "[price_data][unit_amount]",
              "[price_data][product_data][name]"
            ].map((field) => `${item}${field}`)
          )
        )
        if (incomplete !== undefined) return incomplete
        const amount = items.reduce(
          (sum, item) => sum + Number(params[`${item}[quantity]`]) * Number(params[`${item}[price_data][unit_amount]`]),
          0
        )
        if (amount < 50) {
          // https://docs.stripe.com/error-codes#amount-too-small
          return invalid({
            code: "amount_too_small",
            message: "The Checkout Session's total amount due must add up to at least $0.50 usd"
          })
        }
        const id = idOf("cs_test")
        const created = yield* seconds
        const session: Session = {
          id,
          object: "checkout.session",
          amount_subtotal: amount,
          amount_total: amount,
          cancel_url: params.cancel_url ?? null,
          client_reference_id: params.client_reference_id ?? null,
          created,
          currency: (params[`${items[0]}[price_data][currency]`] ?? "").toLowerCase(),
          // One day by default.
          expires_at: created + 86_400,
          livemode: false,
          metadata: hashIn(params, "metadata"),
          mode: "payment",
          payment_intent: null,
          payment_status: "unpaid",
          status: "open",
          success_url: params.success_url ?? "",
          url: `${url}/c/pay/${id}`
        }
        sessions.set(id, session)
        paymentData.set(id, hashIn(params, "payment_intent_data[metadata]"))
        return done(session)
      })

      // https://docs.stripe.com/api/checkout/sessions/expire: fails unless the session is open.
      const expireSession = Effect.fnUntraced(function* (id: string) {
        const session = sessions.get(id)
        if (session === undefined) return noSuch("checkout.session", id, "session")
        if (session.status !== "open") {
          return invalid({
            message: `Only Checkout Sessions with a status in ["open"] can be expired. This Checkout Session has a status of \`${session.status}\`.`
          })
        }
        const event = yield* happened("checkout.session.expired", { ...session, status: "expired", url: null })
        return done(event.data.object)
      })

      // https://docs.stripe.com/api/refunds/create
      const createRefund = Effect.fnUntraced(function* (params: Params) {
        const wrong = wrongIn(params, refundParameters)
        if (wrong !== undefined) return wrong
        if (params.payment_intent === undefined) {
          return invalid({
            code: "parameter_missing",
            param: "payment_intent",
            message: "One of the following params should be provided for this request: payment_intent or charge."
          })
        }
        const payment = payments.get(params.payment_intent)
        if (payment === undefined) return noSuch("payment_intent", params.payment_intent, "payment_intent")
        if (payment.status !== "succeeded") {
          return kept(
            invalid({ message: `This PaymentIntent (${payment.id}) does not have a successful charge to refund.` })
          )
        }
        const left = payment.amount - payment.refunded
        if (left === 0) {
          // https://docs.stripe.com/error-codes#charge-already-refunded
          return kept(
            invalid({
              code: "charge_already_refunded",
              message: `Charge ${payment.chargeId} has already been refunded.`
            })
          )
        }
        const amount = params.amount === undefined ? left : Number(params.amount)
        if (amount > left) {
          return kept(
            invalid({
              param: "amount",
              message: `Refund amount ($${amount / 100}) is greater than unrefunded amount on charge ($${left / 100})`
            })
          )
        }
        const refund: Refund = {
          id: idOf("re"),
          object: "refund",
          amount,
          charge: payment.chargeId,
          created: yield* seconds,
          currency: payment.currency,
          metadata: hashIn(params, "metadata"),
          payment_intent: payment.id,
          reason: params.reason ?? null,
          status: trouble.refundStatus
        }
        refunds.push(refund)
        if (refund.status !== "failed" && refund.status !== "canceled") {
          payments.set(payment.id, { ...payment, refunded: payment.refunded + amount })
        }
        return done(refund)
      })

      const endpoint = (call: Call): Effect.Effect<Answer> => {
        const [, id, action] = /^\/v1\/checkout\/sessions\/([^/]+)(\/expire)?$/.exec(call.path) ?? []
        switch (`${call.method} ${call.path.replace(id ?? "\0", ":id")}`) {
          case "POST /v1/checkout/sessions":
            return openSession(call.params)
          case "POST /v1/checkout/sessions/:id/expire":
            return expireSession(id ?? "")
          case "GET /v1/checkout/sessions/:id": {
            // https://docs.stripe.com/api/checkout/sessions/retrieve
            const session = sessions.get(id ?? "")
            return Effect.succeed(
              session === undefined ? noSuch("checkout.session", id ?? "", "session") : done(session)
            )
          }
          case "POST /v1/refunds":
            return createRefund(call.params)
          default:
            return Effect.succeed(
              refusal(404, {
                type: "invalid_request_error",
                message: `Unrecognized request URL (${call.method}: ${call.path}${action ?? ""}). Please see https://stripe.com/docs or we can help at https://support.stripe.com/.`
              })
            )
        }
      }

      const perform = Effect.fnUntraced(function* (call: Call) {
        yield* Effect.sleep(trouble.delay)
        return strikes("breaking") ? brokenForGood : yield* endpoint(call)
      })

      /**
       * https://docs.stripe.com/api/idempotent_requests: once an endpoint has started, the first answer is stored
       * with its status, 500 included. It is not stored after invalid parameters or during another request with the
       * key.
       */
      const once = Effect.fnUntraced(function* (key: string, call: Call) {
        const request = JSON.stringify([call.method, call.path, call.params])
        const known = keys.get(key)
        if (known === undefined) {
          const entry: { readonly request: string; answer: Answer | undefined } = { request, answer: undefined }
          keys.set(key, entry)
          const answer = yield* perform(call)
          if (answer.kept) entry.answer = answer
          else keys.delete(key)
          return answer
        }
        if (known.request !== request) {
          return refusal(400, {
            type: "idempotency_error",
            message: `Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than '${key}' if you meant to execute a different request.`
          })
        }
        // https://docs.stripe.com/error-codes#idempotency-key-in-use
        return known.answer === undefined
          ? refusal(409, {
              type: "idempotency_error",
              code: "idempotency_key_in_use",
              message: `There is currently another in-progress request using this Idempotent Key (that probably means you submitted twice, and the other request is still going through): ${key}. Please try again later.`
            })
          : { ...known.answer, headers: { ...known.answer.headers, "idempotent-replayed": "true" } }
      })

      const answerTo = Effect.fnUntraced(function* (call: Call, { headers }: IncomingMessage) {
        const refused = unauthorized(headers.authorization, secretKey)
        if (refused !== undefined) return refused
        if (strikes("failing")) return broken
        if (call.method === "POST" && headers["content-type"] !== "application/x-www-form-urlencoded") {
          return refusal(400, {
            type: "invalid_request_error",
            message: "Invalid request (check that your POST content type is application/x-www-form-urlencoded)."
          })
        }
        return yield* call.method === "POST" && call.idempotencyKey !== undefined
          ? once(call.idempotencyKey, call)
          : perform(call)
      })

      const server = createServer((request, response) => {
        const chunks: Array<Buffer> = []
        request.on("data", (chunk: Buffer) => chunks.push(chunk))
        request.on("end", () => {
          const key = request.headers["idempotency-key"]
          const call: (typeof calls)[number] = {
            method: request.method ?? "",
            path: (request.url ?? "").replace(/\?.*$/, ""),
            idempotencyKey: typeof key === "string" ? key : undefined,
            params: Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString())),
            status: null
          }
          calls.push(call)
          if (strikes("rubbish")) {
            call.status = 200
            response.writeHead(200, { "content-type": "text/html" }).end("<html>Please sign in to the network</html>")
            return
          }
          run(
            Effect.map(answerTo(call, request), ({ body, headers, status }) => {
              if (strikes("losing")) {
                response.destroy()
                return
              }
              call.status = status
              response
                .writeHead(status, { "content-type": "application/json", "request-id": idOf("req"), ...headers })
                .end(JSON.stringify(body, null, 2))
            })
          )
        })
      })
      yield* Effect.acquireRelease(
        Effect.callback<void>((resume) => void server.listen(port, "127.0.0.1", () => resume(Effect.void))),
        () =>
          Effect.callback<void>((resume) => {
            server.closeAllConnections()
            server.close(() => resume(Effect.void))
          })
      )

      const session = (id: string, status: Session["status"]) => {
        const found = sessions.get(id)
        return found?.status === status
          ? Effect.succeed(found)
          : Effect.die(new Error(`Expected the session ${id} to be ${status}; it is ${found?.status ?? "unknown"}`))
      }

      const payment = (id: string | null, status: Payment["status"]) => {
        const found = payments.get(id ?? "")
        return found?.status === status
          ? Effect.succeed(found)
          : Effect.die(new Error(`Expected the payment ${id} to be ${status}; it is ${found?.status ?? "unknown"}`))
      }

      /** The outcome of a pending payment. */
      const arrive = Effect.fnUntraced(function* (sessionId: string, status: "succeeded" | "requires_payment_method") {
        const paid = yield* session(sessionId, "complete")
        payments.set(paid.payment_intent ?? "", { ...(yield* payment(paid.payment_intent, "processing")), status })
        return status === "succeeded"
          ? yield* happened("checkout.session.async_payment_succeeded", { ...paid, payment_status: "paid" })
          : yield* happened("checkout.session.async_payment_failed", paid)
      })

      return StripeSimulator.of({
        url,
        secretKey,
        webhookSecret,
        calls: Effect.sync(() => [...calls]),
        sessions: Effect.sync(() => [...sessions.values()]),
        payments: Effect.sync(() => [...payments.values()]),
        refunds: Effect.sync(() => [...refunds]),
        events: Effect.sync(() => [...events]),

        slow: (delay) => make({ delay }),
        failNext: (failing) => make({ failing }),
        breakNext: (breaking) => make({ breaking }),
        loseAnswers: (losing) => make({ losing }),
        answerRubbish: (rubbish) => make({ rubbish }),
        refundsBecome: (refundStatus) => make({ refundStatus }),
        refundByHand: (paymentId) =>
          Effect.map(payment(paymentId, "succeeded"), (found) =>
            payments.set(paymentId, { ...found, refunded: found.amount })
          ),
        forgetKeys: Effect.sync(() => keys.clear()),

        pay: Effect.fnUntraced(function* (sessionId, { later = false } = {}) {
          const open = yield* session(sessionId, "open")
          const paid: Payment = {
            id: idOf("pi"),
            chargeId: idOf("ch"),
            amount: open.amount_total,
            currency: open.currency,
            metadata: paymentData.get(sessionId) ?? {},
            status: later ? "processing" : "succeeded",
            refunded: 0
          }
          payments.set(paid.id, paid)
          return yield* happened("checkout.session.completed", {
            ...open,
            payment_intent: paid.id,
            payment_status: later ? "unpaid" : "paid",
            status: "complete",
            url: null
          })
        }),
        settle: (sessionId) => arrive(sessionId, "succeeded"),
        bounce: (sessionId) => arrive(sessionId, "requires_payment_method"),
        expire: Effect.fnUntraced(function* (sessionId) {
          const open = yield* session(sessionId, "open")
          return yield* happened("checkout.session.expired", { ...open, status: "expired", url: null })
        }),

        signed,
        send: Effect.fnUntraced(function* (event, to, { atOnce = false, times = 1, ...how } = {}) {
          const post = Effect.gen(function* () {
            const { headers, rawBody } = yield* signed(event, how)
            return yield* HttpClientRequest.post(to).pipe(
              HttpClientRequest.setHeaders(headers),
              HttpClientRequest.bodyUint8Array(rawBody, "application/json; charset=utf-8"),
              client.execute,
              Effect.map(({ status }) => status),
              Effect.catchTag("HttpClientError", () => Effect.succeed(null))
            )
          })
          return yield* Effect.all(
            Array.from({ length: times }, () => post),
            { concurrency: atOnce ? "unbounded" : 1 }
          )
        })
      })
    })
  ).pipe(Layer.provide(NodeHttpClient.layerUndici))
}

interface Trouble {
  readonly delay: Duration.Input
  failing: number
  breaking: number
  losing: number
  rubbish: number
  readonly refundStatus: Refund["status"]
}

const idOf = (prefix: string) => `${prefix}_${randomBytes(16).toString("hex")}`
