import { connect as connectPlain } from "node:net"
import { connect as connectTls, type TLSSocket } from "node:tls"
import { Effect } from "effect"

/** A session that has sent STARTTLS, and its certificate if the root confirms it for MX_HOST. */
export const session = (port: number, root: string) =>
  Effect.gen(function* () {
    const socket = yield* Effect.acquireRelease(
      Effect.sync(() => connectPlain(port, "127.0.0.1").on("error", () => {})),
      (socket) => Effect.sync(() => socket.destroy())
    )
    const reply = Effect.callback<void>((resume) => void socket.once("data", () => resume(Effect.void)))
    yield* reply
    for (const line of ["EHLO client.example", "STARTTLS"]) {
      socket.write(`${line}\r\n`)
      yield* reply
    }
    return yield* Effect.callback<TLSSocket>((resume) => {
      const secure: TLSSocket = connectTls(
        { socket, ca: root, servername: "mx.inlet.test", rejectUnauthorized: false },
        () => resume(Effect.succeed(secure))
      )
    })
  })

/** The serial number of a confirmed certificate. */
export const confirmed = (port: number, root: string) =>
  Effect.scoped(
    Effect.map(session(port, root), (secure) =>
      secure.authorized ? secure.getPeerCertificate().serialNumber : "unconfirmed"
    )
  )
