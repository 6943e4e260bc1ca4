import { connect } from "node:net"
import { Effect } from "effect"

export { free } from "../src/testing/Ports.ts"

/** Whether a process listens on a loopback port. */
export const isAnswered = (port: number) =>
  Effect.callback<boolean>((resume) => {
    const peer = connect(port, "127.0.0.1")
    const answer = (yes: boolean) => {
      peer.destroy()
      resume(Effect.succeed(yes))
    }
    peer.once("connect", () => answer(true))
    peer.once("error", () => answer(false))
  })
