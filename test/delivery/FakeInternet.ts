import { type AddressInfo, createServer, type Server, type Socket } from "node:net"
import { Context, DateTime, Duration, Effect, Layer } from "effect"
import { Dns, NetAddress } from "effect/net"
import { generate } from "selfsigned"
import { buildConnector } from "undici"
import { Dial } from "../../src/delivery/Egress.ts"

/** The host at an address: a server on a loopback port, a refusing one or a silent one. */
export type Place = number | "refuses" | "is silent"

export interface KeyPair {
  readonly key: string
  readonly cert: string
}

/** Names, addresses and a certificate authority inside this process or on loopback. */
export class FakeInternet extends Context.Service<
  FakeInternet,
  {
    /** Sets the answers for a name: the next queries get them in sequence, and the last one is repeated. */
    publish(name: string, ...answers: ReadonlyArray<ReadonlyArray<string> | "silence">): Effect.Effect<void>
    /** The number of queries for a name. */
    asked(name: string): Effect.Effect<number>
    place(address: string, place: Place): Effect.Effect<void>
    /** The address and port of every connection attempt. */
    readonly dialed: Effect.Effect<ReadonlyArray<string>>
    /** A trusted certificate, valid from a day ago for this many days. */
    certify(name: string, days?: number): Effect.Effect<KeyPair>
  }
>()("inlet/test/FakeInternet") {
  static readonly layer = Layer.effectContext(
    Effect.gen(function* () {
      const answers = new Map<string, Array<ReadonlyArray<string> | "silence">>()
      const asked = new Map<string, number>()
      const places = new Map<string, Place>()
      const dialed: Array<string> = []

      const dns = Dns.make({
        lookup: (name) =>
          Effect.suspend(() => {
            asked.set(name, (asked.get(name) ?? 0) + 1)
            const coming = answers.get(name) ?? [[]]
            const answer = (coming.length > 1 ? coming.shift() : coming[0]) ?? []
            return answer === "silence"
              ? Effect.never
              : Effect.succeed(answer.map((address) => NetAddress.ipFromStringUnsafe(address)))
          })
      })

      const authority = yield* Effect.promise(() =>
        generate([{ name: "commonName", value: "Authority of the tests" }], {
          keyType: "ec",
          algorithm: "sha256",
          extensions: [
            { name: "basicConstraints", cA: true },
            { name: "keyUsage", keyCertSign: true }
          ]
        })
      )
      const certify = Effect.fnUntraced(function* (name: string, days = 30) {
        const yesterday = DateTime.subtract(yield* DateTime.now, { days: 1 })
        const { cert, private: key } = yield* Effect.promise(() =>
          generate([{ name: "commonName", value: name }], {
            keyType: "ec",
            algorithm: "sha256",
            ca: { key: authority.private, cert: authority.cert },
            notBeforeDate: DateTime.toDate(DateTime.subtract(yesterday, { days: 30 })),
            notAfterDate: DateTime.toDate(DateTime.add(yesterday, { days })),
            extensions: [{ name: "subjectAltName", altNames: [{ type: 2, value: name }] }]
          })
        )
        return { key, cert }
      })

      const dial =
        (timeout: Duration.Duration): buildConnector.connector =>
        (options, callback) => {
          dialed.push(`${options.hostname}:${options.port || { "http:": 80, "https:": 443 }[options.protocol]}`)
          const place = places.get(options.hostname)
          if (place === "is silent") return
          if (typeof place !== "number") {
            return callback(Object.assign(new Error(`nobody at ${options.hostname}`), { code: "ECONNREFUSED" }), null)
          }
          const connect = buildConnector({
            allowH2: false,
            timeout: Duration.toMillis(timeout),
            ca: authority.cert,
            servername: undefined
          })
          connect({ ...options, hostname: "127.0.0.1", port: `${place}` }, callback)
        }

      const internet = FakeInternet.of({
        publish: (name, ...said) => Effect.sync(() => void answers.set(name, [...said])),
        asked: (name) => Effect.sync(() => asked.get(name) ?? 0),
        place: (address, place) => Effect.sync(() => void places.set(address, place)),
        dialed: Effect.sync(() => [...dialed]),
        certify
      })
      return Context.make(FakeInternet, internet).pipe(Context.add(Dns.Dns, dns), Context.add(Dial, dial))
    })
  )
}

/** A server on a loopback port that tracks its connections and is closed with them. */
export const listening = Effect.fnUntraced(function* (server: Server) {
  const sockets: Array<Socket> = []
  server.on("connection", (socket) => {
    sockets.push(socket)
    socket.on("error", () => {})
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () =>
      Effect.callback<void>((resume) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resume(Effect.void))
      })
  )
  // It listens on a port, not on a path.
  return { port: (server.address() as AddressInfo).port, sockets }
})

/** A server below HTTP that controls each connection after a request has started. */
export const raw = (react: (socket: Socket) => void) =>
  listening(createServer((socket) => void socket.once("data", () => react(socket))))
