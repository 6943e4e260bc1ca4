import { Context, Effect, Layer } from "effect"
import * as Settings from "../Settings.ts"

/** One message's share of the memory for all. */
export interface Share {
  /** Whether there is room for so many more bytes. Once there was none, there is none again. */
  take(bytes: number): boolean
  readonly wasRefused: () => boolean
  /** Gives everything back. */
  leave(): void
}

/**
 * The bytes of messages between DATA and our answer, of all sessions together; zero is no
 * limit. Beyond the limit a client that has less than an equal part may go on, so that slow
 * messages on many connections of one client do not keep the others from sending. Beyond
 * twice the limit none may.
 */
export const make = (mostBytes: number) => {
  const perClient = new Map<string, number>()
  let total = 0

  const enter = (client: string): Share => {
    let own = 0
    let wasRefused = false
    let hasLeft = false

    const change = (bytes: number) => {
      own += bytes
      total += bytes
      const held = (perClient.get(client) ?? 0) + bytes
      if (held === 0) perClient.delete(client)
      else perClient.set(client, held)
    }
    const isTooMuch = (bytes: number) => {
      if (mostBytes === 0 || total + bytes <= mostBytes) return false
      if (total + bytes > 2 * mostBytes) return true
      const held = perClient.get(client)
      const clients = perClient.size + (held === undefined ? 1 : 0)
      return (held ?? 0) + bytes > mostBytes / clients
    }

    return {
      take: (bytes) => {
        if (hasLeft || wasRefused) return false
        wasRefused = isTooMuch(bytes)
        if (!wasRefused) change(bytes)
        return !wasRefused
      },
      wasRefused: () => wasRefused,
      leave: () => {
        hasLeft = true
        change(-own)
      }
    }
  }

  return { enter }
}

/** That memory, of this process: messages that come by SMTP and those that come by the API share it. */
export class DataMemory extends Context.Service<DataMemory, ReturnType<typeof make>>()("inlet/intake/DataMemory") {
  static readonly layer = Layer.effect(
    DataMemory,
    Effect.map(Settings.smtp, ({ dataBytes, messageBytes }) =>
      make(dataBytes === 0 ? 0 : Math.max(dataBytes, messageBytes))
    )
  )
}
