import type { X509Certificate } from "node:crypto"
import { createConnection, type Socket } from "node:net"
import { connect } from "node:tls"
import { type Duration, Effect, Schema } from "effect"
import type { Validity } from "../certificates/CertificateEnd.ts"

/** The server did not take part in the dialog. */
export class Silent extends Schema.TaggedError<Silent>()("Silent", {
  message: Schema.String,
  /** True if no packet came back. A network may block it on the way out, so this says nothing about the server. */
  isUnreached: Schema.Boolean
}) {}

/** Errors of a network that does not carry the connection to the server. The last two come without IPv6. */
const unreached: ReadonlySet<string | undefined> = new Set([
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EADDRNOTAVAIL",
  "EAFNOSUPPORT"
])

const silent = (message: string) => new Silent({ message, isUnreached: false })

/** The certificate that a server shows after STARTTLS. */
export interface ShownCertificate extends Validity {
  readonly isForHost: boolean
  readonly names: string
  readonly isSelfSigned: boolean
}

/** What a mail server answered. */
export interface Talk {
  /** The first line. */
  readonly greeting: string
  readonly offersStartTls: boolean
  /** Null without STARTTLS. A string says why TLS failed. */
  readonly certificate: ShownCertificate | string | null
}

/** Maximum bytes of one reply. */
const mostBytes = 8_192

/** The longest text of a server that is shown. */
const mostShown = 200

/** The next whole reply: lines up to one without a hyphen behind its code (RFC 5321, section 4.2.1). */
const reply = (socket: Socket) =>
  Effect.callback<ReadonlyArray<string>, Silent>((resume) => {
    let text = ""
    const forget = () => void socket.off("data", onData).off("error", onError).off("close", onClose)
    const end = (result: Effect.Effect<ReadonlyArray<string>, Silent>) => {
      forget()
      resume(result)
    }
    const fail = (message: string) => end(Effect.fail(silent(message)))
    const onData = (bytes: Buffer) => {
      text += bytes.toString("latin1")
      const lines = text.split(/\r?\n/).slice(0, -1)
      if (lines.some((line) => !/^\d{3}-/.test(line))) end(Effect.succeed(lines))
      else if (text.length > mostBytes) fail("its reply does not end")
    }
    const onError = ({ code, message }: NodeJS.ErrnoException) =>
      end(Effect.fail(new Silent({ message, isUnreached: unreached.has(code) })))
    const onClose = () => fail("it closed the connection without an answer")
    socket.on("data", onData).once("error", onError).once("close", onClose)
    return Effect.sync(forget)
  })

const say = (socket: Socket, line: string) =>
  Effect.suspend(() => {
    socket.write(`${line}\r\n`)
    return reply(socket)
  })

/** Replaces control characters, because the text of a server is shown to people. */
const shown = (line: string | undefined) => (line ?? "").replace(/\p{Cc}/gu, "\uFFFD").slice(0, mostShown)

/** The certificate of the server, which is shown and not trusted. */
const handshake = (socket: Socket, host: string) =>
  Effect.callback<ShownCertificate, Silent>((resume) => {
    const secure = connect({ socket, servername: host, rejectUnauthorized: false })
    // Every error, for one without a listener would end the process.
    secure.on("error", ({ message }) => resume(Effect.fail(silent(message))))
    secure.once("secureConnect", () => {
      const certificate = secure.getPeerX509Certificate()
      secure.end("QUIT\r\n")
      resume(
        certificate === undefined
          ? Effect.fail(silent("it shows no certificate"))
          : Effect.succeed(described(certificate, host))
      )
    })
  })

const described = (certificate: X509Certificate, host: string): ShownCertificate => ({
  isForHost: certificate.checkHost(host) !== undefined,
  names: shown(certificate.subjectAltName?.replaceAll("DNS:", "") ?? certificate.subject),
  isSelfSigned: certificate.checkIssued(certificate),
  validFrom: certificate.validFromDate.getTime(),
  validTo: certificate.validToDate.getTime()
})

const connection = (address: string, port: number) =>
  Effect.acquireRelease(
    // An error between two replies would otherwise end the process.
    Effect.sync(() => createConnection({ host: address, port }).on("error", () => {})),
    (socket) => Effect.sync(() => socket.destroySoon())
  )

const dialog = Effect.fnUntraced(function* (socket: Socket, host: string) {
  const [greeting] = yield* reply(socket)
  const none: Talk = { greeting: shown(greeting), offersStartTls: false, certificate: null }
  if (greeting === undefined || !/^220[ -]/.test(greeting)) return none
  const offered = yield* Effect.result(say(socket, `EHLO ${host}`))
  if (offered._tag === "Failure" || !offered.success.some((line) => /^250[ -]STARTTLS\b/i.test(line))) {
    socket.end("QUIT\r\n")
    return none
  }
  const certificate = yield* say(socket, "STARTTLS").pipe(
    Effect.flatMap(([line = ""]) =>
      /^220[ -]/.test(line)
        ? handshake(socket, host)
        : Effect.fail(silent(`it answers ${JSON.stringify(shown(line))} to STARTTLS`))
    ),
    Effect.catch(({ message }) => Effect.succeed(message))
  )
  return { ...none, offersStartTls: true, certificate }
})

/**
 * Says EHLO and STARTTLS to a mail server, and leaves before any mail. Fails with the reason if it does not greet in
 * time. `host` is the name that the certificate is for.
 */
export const talk = Effect.fn("SmtpProbe.talk")(
  ({
    address,
    host,
    patience,
    port
  }: {
    readonly address: string
    readonly host: string
    readonly patience: Duration.Duration
    readonly port: number
  }) =>
    connection(address, port).pipe(
      Effect.flatMap((socket) =>
        Effect.timeoutOrElse(dialog(socket, host), {
          duration: patience,
          orElse: () =>
            Effect.fail(new Silent({ message: "it does not answer in time", isUnreached: socket.connecting }))
        })
      ),
      Effect.scoped
    )
)
