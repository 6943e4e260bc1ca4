import { createHash, type JsonWebKey, randomBytes } from "node:crypto"
import { createServer } from "node:http"
import { Context, DateTime, Effect, FiberSet, Layer } from "effect"
import { call } from "../ApiCall.ts"
import * as Ports from "../Ports.ts"
import * as AcmeCa from "./AcmeCa.ts"

// A certificate authority that speaks ACME (RFC 8555). Every request must be signed, with a nonce of its own.

export type Resource =
  | "directory"
  | "newNonce"
  | "newAccount"
  | "newOrder"
  | "order"
  | "authz"
  | "challenge"
  | "finalize"
  | "cert"

/** A fault of the next request for a resource. `lost`: the authority has acted, and the connection breaks. */
export type Mishap =
  | "badNonce"
  | "lost"
  | { readonly status: number; readonly type: string; readonly detail: string; readonly retryAfter?: string }
  | { readonly hold: Effect.Effect<void> }
  /** `Retry-After` of an answer without a fault. */
  | { readonly wait: string }
  | { readonly redirect: string }
  | { readonly bytes: number }

/** How the authority looks at a host. Returns the answer that it found. */
export type Look = (challenge: {
  readonly type: "http-01" | "dns-01"
  readonly host: string
  readonly token: string
}) => Effect.Effect<string | { readonly type: string; readonly detail: string }>

interface Placed {
  readonly account: string
  readonly host: string
  readonly token: string
  status: "pending" | "ready" | "processing" | "valid" | "invalid"
  authorization: "pending" | "valid" | "invalid"
  error?: { readonly type: string; readonly detail: string }
  certificate?: string
}

interface Answer {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export class Acme extends Context.Service<
  Acme,
  {
    readonly directory: string
    /** The certificate of its root as PEM. */
    readonly root: string
    looks(look: Look): Effect.Effect<void>
    /** The life of certificates from now on: their begin and end, in milliseconds from now. */
    life(from: number, to: number): Effect.Effect<void>
    mishaps(resource: Resource, ...next: ReadonlyArray<Mishap>): Effect.Effect<void>
    /** The number of requests for a resource. */
    asked(resource: Resource): number
    /** The certificates issued so far, oldest first. */
    readonly issued: ReadonlyArray<string>
    /** The number of accounts. */
    readonly accounts: () => number
    /** The contacts of the last account request. */
    readonly contacts: () => ReadonlyArray<string>
    /** Everything that it was sent. */
    readonly heard: () => string
  }
>()("inlet/test/simulators/Acme") {
  static readonly layer = Layer.effect(
    Acme,
    Effect.gen(function* () {
      const port = yield* Ports.free
      const url = `http://127.0.0.1:${port}`
      const run = yield* FiberSet.makeRuntime()
      const ca = yield* AcmeCa.make
      const nonces = new Set<string>()
      const accounts = new Map<string, JsonWebKey>()
      const orders = new Map<string, Placed>()
      const issued: Array<string> = []
      const asked = new Map<Resource, number>()
      const mishaps = new Map<Resource, Array<Mishap>>()
      let look: Look = () => Effect.succeed({ type: "connection", detail: "Connection refused" })
      let life = { from: -3_600_000, to: 90 * 86_400_000 }
      let contacts: ReadonlyArray<string> = []
      let heard = ""

      const nonce = () => {
        const made = randomBytes(12).toString("base64url")
        nonces.add(made)
        return made
      }
      const problem = (status: number, type: string, detail: string): Answer => ({
        status,
        body: { type: `urn:ietf:params:acme:error:${type}`, detail },
        headers: { "content-type": "application/problem+json" }
      })
      const orderBody = (id: string, placed: Placed) => ({
        status: placed.status,
        identifiers: [{ type: "dns", value: placed.host }],
        authorizations: [`${url}/authz/${id}`],
        finalize: `${url}/finalize/${id}`,
        ...(placed.error === undefined ? {} : { error: documentOf(placed.error) }),
        ...(placed.certificate === undefined ? {} : { certificate: `${url}/cert/${id}` })
      })
      const documentOf = ({ detail, type }: { readonly type: string; readonly detail: string }) => ({
        type: `urn:ietf:params:acme:error:${type}`,
        detail
      })
      const challenges = (id: string, { authorization, error, token }: Placed) =>
        (["http-01", "dns-01"] as const).map((type) => ({
          type,
          url: `${url}/challenge/${id}/${type}`,
          status: authorization,
          token,
          ...(error === undefined || type === "dns-01" ? {} : { error: documentOf(error) })
        }))

      const decide = Effect.fnUntraced(function* (placed: Placed, type: "http-01" | "dns-01") {
        const found = yield* look({ type, host: placed.host, token: placed.token })
        const jwk = accounts.get(placed.account)
        const expected = `${placed.token}.${jwk === undefined ? "" : AcmeCa.thumbprint(jwk)}`
        const wanted = type === "http-01" ? expected : createHash("sha256").update(expected).digest("base64url")
        if (found === wanted) {
          placed.authorization = "valid"
          placed.status = "ready"
          return
        }
        placed.authorization = "invalid"
        placed.status = "invalid"
        placed.error =
          typeof found === "string" ? { type: "unauthorized", detail: `Invalid response: "${found}"` } : found
      })

      const sign = Effect.fnUntraced(function* (id: string, placed: Placed, csr: string) {
        const now = DateTime.toEpochMillis(yield* DateTime.now)
        const made = yield* ca.sign(Buffer.from(csr, "base64url"), issued.length + 1, now + life.from, now + life.to)
        if (made.names.join() !== placed.host) return problem(400, "badCSR", `${made.names.join()} was not ordered`)
        placed.certificate = made.chain
        placed.status = "valid"
        issued.push(made.chain)
        return { status: 200, body: orderBody(id, placed) }
      })

      const answer = (
        resource: Resource,
        id: string,
        payload: Record<string, unknown>,
        account: string,
        type: string
      ): Effect.Effect<Answer> => {
        const placed = orders.get(id)
        switch (resource) {
          case "newAccount":
            contacts = (payload.contact ?? []) as ReadonlyArray<string>
            return Effect.succeed(
              payload.termsOfServiceAgreed === true
                ? { status: 201, body: { status: "valid" }, headers: { location: `${url}/account/${account}` } }
                : problem(403, "userActionRequired", "Agree to the terms")
            )
          case "newOrder": {
            const [{ value = "" } = {}] = (payload.identifiers ?? []) as ReadonlyArray<{ readonly value?: string }>
            const made = `${orders.size + 1}`
            const fresh: Placed = {
              account,
              host: value,
              token: randomBytes(16).toString("base64url"),
              status: "pending",
              authorization: "pending"
            }
            orders.set(made, fresh)
            return Effect.succeed({
              status: 201,
              body: orderBody(made, fresh),
              headers: { location: `${url}/order/${made}` }
            })
          }
          default:
            if (placed === undefined || placed.account !== account) {
              return Effect.succeed(problem(404, "malformed", "No such resource"))
            }
        }
        switch (resource) {
          case "order":
            return Effect.succeed({ status: 200, body: orderBody(id, placed) })
          case "authz":
            return Effect.succeed({
              status: 200,
              body: {
                status: placed.authorization,
                identifier: { type: "dns", value: placed.host },
                challenges: challenges(id, placed)
              }
            })
          case "challenge":
            // As in reality it looks after its answer.
            run(decide(placed, type === "dns-01" ? "dns-01" : "http-01"))
            return Effect.succeed({ status: 200, body: { type, status: "processing", url: "", token: placed.token } })
          case "finalize":
            return placed.status === "ready"
              ? sign(id, placed, `${payload.csr}`)
              : Effect.succeed(problem(403, "orderNotReady", `The order is ${placed.status}`))
          case "cert":
            return Effect.succeed({
              status: 200,
              body: placed.certificate,
              headers: { "content-type": "application/pem-certificate-chain" }
            })
          default:
            return Effect.succeed(problem(405, "malformed", "No such method"))
        }
      }

      /** Checks what RFC 8555, section 6 requires of a request, and answers it. */
      const signed = (resource: Resource, path: string, body: string): Effect.Effect<Answer> => {
        const request = JSON.parse(body) as { payload: string; protected: string; signature: string }
        const head = JSON.parse(`${Buffer.from(request.protected, "base64url")}`) as {
          readonly nonce: string
          readonly url: string
          readonly jwk?: JsonWebKey
          readonly kid?: string
        }
        if (!nonces.delete(head.nonce)) return Effect.succeed(problem(400, "badNonce", "The nonce is used or unknown"))
        if (head.url !== `${url}${path}`) return Effect.succeed(problem(401, "unauthorized", "Another URL is signed"))
        const account = head.jwk === undefined ? (head.kid ?? "").replace(/^.*\//, "") : AcmeCa.thumbprint(head.jwk)
        const jwk = head.jwk ?? accounts.get(account)
        if (jwk === undefined) return Effect.succeed(problem(400, "accountDoesNotExist", "No such account"))
        if (!AcmeCa.isSigned(request, jwk)) return Effect.succeed(problem(400, "malformed", "The signature is wrong"))
        if (resource === "newAccount") accounts.set(account, jwk)
        const payload = request.payload === "" ? {} : JSON.parse(`${Buffer.from(request.payload, "base64url")}`)
        const [, , id = "", type = ""] = path.split("/")
        return answer(resource, id, payload, account, type)
      }

      const server = createServer((request, response) => {
        const path = request.url ?? ""
        const resource = (path.split("/")[1] ?? "") as Resource
        let body = ""
        request.on("data", (chunk) => (body += chunk))
        request.on("end", () => {
          heard += `${path}\n${JSON.stringify(request.headers)}\n${body}\n`
          asked.set(resource, (asked.get(resource) ?? 0) + 1)
          const mishap = mishaps.get(resource)?.shift()
          const send = ({ body, headers, status }: Answer) => {
            const text = typeof body === "string" ? body : JSON.stringify(body ?? "")
            response.writeHead(status, { "replay-nonce": nonce(), "content-type": "application/json", ...headers })
            response.end(request.method === "HEAD" ? "" : text)
          }
          const usual = Effect.suspend((): Effect.Effect<Answer> => {
            if (resource === "directory") {
              const places = ["newNonce", "newAccount", "newOrder"].map((name) => [name, `${url}/${name}`])
              return Effect.succeed({
                status: 200,
                body: { ...Object.fromEntries(places), meta: { termsOfService: `${url}/terms` } }
              })
            }
            if (resource === "newNonce") return Effect.succeed({ status: 200 })
            return signed(resource, path, body)
          })
          run(
            Effect.gen(function* () {
              if (mishap === undefined) return send(yield* usual)
              if (mishap === "badNonce") return send(problem(400, "badNonce", "An unlucky nonce"))
              if (mishap === "lost") {
                yield* usual
                return void response.destroy()
              }
              if ("hold" in mishap) {
                yield* mishap.hold
                return send(yield* usual)
              }
              if ("wait" in mishap) {
                const { headers, ...rest } = yield* usual
                return send({ ...rest, headers: { ...headers, "retry-after": mishap.wait } })
              }
              if ("redirect" in mishap) return send({ status: 302, headers: { location: mishap.redirect } })
              if ("bytes" in mishap) return send({ status: 200, body: "x".repeat(mishap.bytes) })
              const { detail, retryAfter, status, type } = mishap
              const { body: document } = problem(status, type, detail)
              send({
                status,
                body: document,
                headers: retryAfter === undefined ? {} : { "retry-after": retryAfter }
              })
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

      return Acme.of({
        directory: `${url}/directory`,
        root: ca.root,
        looks: (next) =>
          Effect.sync(() => {
            look = next
          }),
        life: (from, to) =>
          Effect.sync(() => {
            life = { from, to }
          }),
        mishaps: (resource, ...next) => Effect.sync(() => void mishaps.set(resource, [...next])),
        asked: (resource) => asked.get(resource) ?? 0,
        issued,
        accounts: () => accounts.size,
        contacts: () => contacts,
        heard: () => heard
      })
    })
  )
}

/** Asks the API at a URL, as the authority asks port 80 of the host. */
export const overHttp =
  (url: string): Look =>
  ({ token }) =>
    Effect.map(call(url, "GET", `/.well-known/acme-challenge/${token}`), ({ text }) => text)
