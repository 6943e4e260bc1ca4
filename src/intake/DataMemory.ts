import { Context, Effect, Layer } from "effect"
import { Tally } from "../cache/Tally.ts"
import { Unavailable } from "../model/ApiError.ts"
import * as Settings from "../Settings.ts"

/** The answer of the API without memory for another message. */
export const memoryFull = new Unavailable({
  message: "Too much mail is arriving at once. Retry in 5 s"
})

/** The memory reserved for one message. */
export interface Share {
  /** Reserves more bytes. Returns false if the limit is reached, and from then on. */
  take(bytes: number): boolean
  readonly wasRefused: () => boolean
  /** Releases all reserved bytes, unless they are kept. */
  leave(): void
  /** Keeps the bytes reserved until the returned function is called, even if `leave` is called first. */
  keep(): () => void
}

/**
 * Limits the total bytes of messages over all sessions. A message counts from DATA to its answer, and after a late
 * answer until the work on it ends. Zero is no limit. Beyond the limit only clients below an equal share may continue,
 * so that one client's slow messages do not block others. Beyond twice the limit none may.
 */
export const make = (mostBytes: number) => {
  const held = new Tally()

  const enter = (client: string): Share => {
    let own = 0
    let wasRefused = false
    let hasLeft = false
    let keepers = 0

    const change = (bytes: number) => {
      own += bytes
      held.add(client, bytes)
    }
    const free = () => {
      if (hasLeft && keepers === 0) change(-own)
    }
    const isTooMuch = (bytes: number) => {
      if (mostBytes === 0 || held.total + bytes <= mostBytes) return false
      if (held.total + bytes > 2 * mostBytes) return true
      const clients = held.owners + (held.of(client) === 0 ? 1 : 0)
      return held.of(client) + bytes > mostBytes / clients
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
        free()
      },
      keep: () => {
        keepers++
        let isKept = true
        return () => {
          if (isKept) keepers--
          isKept = false
          free()
        }
      }
    }
  }

  return { enter }
}

/** The memory limit of this process, shared by SMTP and the API. */
export class DataMemory extends Context.Service<DataMemory, ReturnType<typeof make>>()("inlet/intake/DataMemory") {
  static readonly layer = Layer.effect(
    DataMemory,
    Effect.map(Settings.smtp, ({ dataBytes, messageBytes }) =>
      make(dataBytes === 0 ? 0 : Math.max(dataBytes, messageBytes))
    )
  )
}
