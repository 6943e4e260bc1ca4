import { Effect } from "effect"

const words = {
  misled:
    "A load balancer in SMTP_PROXY_FROM began without a PROXY header of version 1, so its connection was closed. Let it send one (send-proxy in HAProxy, not send-proxy-v2), or take its address out of SMTP_PROXY_FROM",
  unlisted:
    "A client sent a PROXY header, which was refused. If it is your load balancer, add its address to SMTP_PROXY_FROM"
}

/** Milliseconds between two lines of one kind. */
const pause = 60_000

/** Logs what seems to be wrong about a load balancer, because all mail may be refused while the service looks healthy. */
export const make = Effect.sync(() => {
  const heard = new Map<keyof typeof words, string>()
  const toldAt = new Map<keyof typeof words, number>()

  const tell = Effect.fnUntraced(function* (now: number) {
    for (const [kind, address] of heard) {
      if (now - (toldAt.get(kind) ?? Number.NEGATIVE_INFINITY) < pause) continue
      toldAt.set(kind, now)
      yield* Effect.annotateLogs(Effect.logWarning(words[kind]), { remote_address: address })
    }
    heard.clear()
  })

  return {
    heard: (kind: keyof typeof words, address: string) => void heard.set(kind, address),
    /** Logs the news since the last call. `now` is in milliseconds. */
    tell
  }
})
