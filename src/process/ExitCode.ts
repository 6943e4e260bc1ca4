import { Effect, Runtime } from "effect"

let isAsked = false

/** From now on SIGTERM asks the process to end, as supervisors do with a service. */
export const serve = Effect.sync(() => {
  process.once("SIGTERM", () => {
    isAsked = true
  })
})

/** 0 for a service that ended as asked, so that no supervisor reports a failure. Ctrl-C is 130. */
export const teardown: Runtime.Teardown = (exit, onExit) =>
  Runtime.defaultTeardown(exit, (code) => onExit(isAsked && code === 130 ? 0 : code))
