import type { SMTPServerSession } from "smtp-server"
import { DataConnection } from "./DataStream.ts"

/** True if a mail server in front named the client of this session or message. */
export const isIn = ({ xClient, xForward }: SMTPServerSession): boolean =>
  Boolean(xForward.get("ADDR")) || Boolean(xClient.get("ADDR"))

/** The longest domain name (RFC 5321, section 4.5.3.1.2). */
const longestName = 255

/**
 * Takes the client from mail servers in front: of one message by XFORWARD
 * (https://www.postfix.org/XFORWARD_README.html), of the session by XCLIENT
 * (https://www.postfix.org/XCLIENT_README.html). The library allows both to single addresses only, and keeps what
 * XFORWARD said for the messages after it.
 */
export class RelayedConnection extends DataConnection {
  readonly #isRelay: (address: string) => boolean
  /** The mail server in front, while XFORWARD names its client. */
  #relay: Pick<DataConnection, "clientHostname" | "hostNameAppearsAs" | "remoteAddress" | "remotePort"> | undefined
  #isForwarding = false

  constructor(isRelay: (address: string) => boolean, ...connection: ConstructorParameters<typeof DataConnection>) {
    super(...connection)
    this.#isRelay = isRelay
  }

  override _proxyCommandAllowed(): boolean {
    // Not to the client that XCLIENT named.
    return !this._xClient.has("ADDR") && this.#isRelay(this._originalRemoteAddress)
  }

  override handler_XFORWARD(...[command, callback]: Parameters<DataConnection["handler_XFORWARD"]>) {
    const { clientHostname, hostNameAppearsAs, remoteAddress, remotePort } = this
    this.#relay ??= { clientHostname, hostNameAppearsAs, remoteAddress, remotePort }
    this.#isForwarding = true
    super.handler_XFORWARD(command, callback)
    this.#isForwarding = false
  }

  override handler_EHLO(...[command, callback]: Parameters<DataConnection["handler_EHLO"]>) {
    this.#forgetClient()
    super.handler_EHLO(command, callback)
  }

  override handler_HELO(...[command, callback]: Parameters<DataConnection["handler_HELO"]>) {
    this.#forgetClient()
    super.handler_HELO(command, callback)
  }

  /** Runs at the end of a message and of an aborted one, and within the commands above. */
  override _resetSession() {
    if (this.#isForwarding) this.#nameClient()
    else this.#forgetClient()
    super._resetSession()
  }

  /** The library keeps the last address if none is available, and the name of the mail server in front. */
  #nameClient() {
    const relay = this.#relay
    if (relay === undefined) return
    if (this._xForward.get("ADDR")) {
      const name = this._xForward.get("HELO")
      this.hostNameAppearsAs = name ? `${name}`.slice(0, longestName) : "unknown"
    } else Object.assign(this, relay)
  }

  #forgetClient() {
    if (this.#relay === undefined) return
    const relay = this.#relay
    this.#relay = undefined
    this._xForward.clear()
    // The name is false after STARTTLS, which asks for EHLO again.
    Object.assign(this, relay, this.hostNameAppearsAs === false ? { hostNameAppearsAs: false } : {})
  }
}
