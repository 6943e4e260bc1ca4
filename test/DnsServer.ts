import { createSocket } from "node:dgram"
import { createServer } from "node:net"
import dnsPacket, { type Answer, type Packet, type RecordType } from "dns-packet"
import { Context, Effect, Layer } from "effect"
import * as Ports from "./Ports.ts"

/** The answer for a name and type. `text` yields a TXT record for each entry, split into the strings of its array. */
export type Reaction =
  | { readonly text: ReadonlyArray<string | ReadonlyArray<string>> }
  | { readonly mx: ReadonlyArray<readonly [priority: number, exchange: string]> }
  | { readonly address: string }
  | { readonly alias: string }
  | "NXDOMAIN"
  | "SERVFAIL"
  /** Truncated, over TCP too. */
  | "truncated"
  | "silence"

/**
 * A name server on a loopback port, over UDP and TCP. It has no names at first. `*` as the first label matches any
 * label.
 */
export class DnsServer extends Context.Service<
  DnsServer,
  {
    /** The value for `DNS_SERVERS`. */
    readonly server: string
    answer(type: "TXT" | "MX" | "A" | "AAAA" | "CNAME", name: string, reaction: Reaction): Effect.Effect<void>
    /** The number of queries for a name and type. */
    asked(type: "TXT" | "MX" | "A" | "AAAA", name: string): Effect.Effect<number>
  }
>()("inlet/test/DnsServer") {
  static readonly layer = Layer.effect(
    DnsServer,
    Effect.gen(function* () {
      const port = yield* Ports.free
      const told = new Map<string, Reaction>()
      const asked = new Map<string, number>()

      /** The reply to a query, or undefined for none. */
      const reply = (query: Packet): Packet | undefined => {
        const question = query.questions?.[0]
        if (question === undefined) return undefined
        const key = keyOf(question.type, question.name)
        asked.set(key, (asked.get(key) ?? 0) + 1)
        const wildcard = keyOf(question.type, question.name.replace(/^[^.]+/, "*"))
        const reaction = told.get(key) ?? told.get(wildcard) ?? "NXDOMAIN"
        if (reaction === "silence") return undefined
        const code = reaction === "NXDOMAIN" ? 3 : reaction === "SERVFAIL" ? 2 : 0
        return {
          type: "response",
          id: query.id ?? 0,
          flags:
            dnsPacket.RECURSION_DESIRED |
            dnsPacket.RECURSION_AVAILABLE |
            (reaction === "truncated" ? dnsPacket.TRUNCATED_RESPONSE : 0) |
            code,
          questions: [question],
          answers: typeof reaction === "string" ? [] : records(question.name, question.type, reaction, told)
        }
      }

      const udp = createSocket("udp4", (message, peer) => {
        const query = dnsPacket.decode(message)
        const response = reply(query)
        if (response === undefined) return
        const whole = dnsPacket.encode(response)
        const room = query.additionals?.find((record) => record.type === "OPT")?.udpPayloadSize ?? 512
        // An answer without room is requested again over TCP (RFC 1035, section 4.2.1).
        const sent =
          whole.length <= room
            ? whole
            : dnsPacket.encode({
                ...response,
                flags: (response.flags ?? 0) | dnsPacket.TRUNCATED_RESPONSE,
                answers: []
              })
        udp.send(sent, peer.port, peer.address)
      })

      const tcp = createServer((socket) => {
        let bytes = Buffer.alloc(0)
        socket.on("error", () => {})
        socket.on("data", (chunk) => {
          bytes = Buffer.concat([bytes, chunk])
          if (bytes.length < 2 || bytes.length < 2 + bytes.readUInt16BE(0)) return
          const response = reply(dnsPacket.streamDecode(bytes))
          if (response !== undefined) socket.end(dnsPacket.streamEncode(response))
        })
      })

      yield* Effect.acquireRelease(
        Effect.callback<void>((resume) => void udp.bind(port, "127.0.0.1", () => resume(Effect.void))),
        () => Effect.callback<void>((resume) => void udp.close(() => resume(Effect.void)))
      )
      yield* Effect.acquireRelease(
        Effect.callback<void>((resume) => void tcp.listen(port, "127.0.0.1", () => resume(Effect.void))),
        () => Effect.callback<void>((resume) => void tcp.close(() => resume(Effect.void)))
      )

      return DnsServer.of({
        server: `127.0.0.1:${port}`,
        answer: (type, name, reaction) => Effect.sync(() => void told.set(keyOf(type, name), reaction)),
        asked: (type, name) => Effect.sync(() => asked.get(keyOf(type, name)) ?? 0)
      })
    })
  )
}

const keyOf = (type: string, name: string) => `${type} ${name.toLowerCase()}`

const records = (
  name: string,
  type: RecordType,
  reaction: Exclude<Reaction, string>,
  told: ReadonlyMap<string, Reaction>,
  // Each record of a CNAME loop is returned once.
  aliases = 16
): Array<Answer> => {
  if ("text" in reaction) {
    return reaction.text.map((strings) => ({ type: "TXT", name, ttl: 60, data: [strings].flat() }))
  }
  if ("mx" in reaction) {
    return reaction.mx.map(([preference, exchange]) => ({ type: "MX", name, ttl: 60, data: { preference, exchange } }))
  }
  if ("address" in reaction) {
    return [{ type: reaction.address.includes(":") ? "AAAA" : "A", name, ttl: 60, data: reaction.address }]
  }
  const behind = told.get(keyOf(type, reaction.alias))
  const known = behind !== undefined && typeof behind !== "string" && aliases > 0
  return [
    { type: "CNAME", name, ttl: 60, data: reaction.alias },
    ...(known ? records(reaction.alias, type, behind, told, aliases - 1) : [])
  ]
}
