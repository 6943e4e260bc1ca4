import { Effect } from "effect"
import type { SendMailOptions } from "nodemailer"
import { TestInlet } from "../../../src/testing/TestInlet.ts"
import { eventually } from "../../Eventually.ts"
import * as Mail from "../../Mail.ts"

interface Listed {
  readonly event_id: string
  readonly delivery: { readonly status: string; readonly attempts: number; readonly lastError: string | null }
}

/** An inbox whose webhook has a format, and what a customer does with it. */
export const of = Effect.fnUntraced(function* (body: Readonly<Record<string, unknown>>) {
  const inlet = yield* TestInlet
  const inbox = yield* inlet.inbox()
  const { key } = inbox
  const path = `/api/domains/${inbox.domainId}`
  const patch = (change: unknown) => inlet.call("PATCH", `${path}/delivery`, { key, body: change })
  const get = (rest = "") => inlet.call("GET", `${path}${rest}`, { key })
  const set = yield* patch(body)
  const events = Effect.map(get("/events"), ({ json }) => json.events as ReadonlyArray<Listed>)
  return {
    ...inbox,
    set,
    patch,
    get,
    send: (mail: SendMailOptions = {}) => Mail.send(inlet.smtpPort, { to: inbox.address, ...mail }),
    replay: (eventId: string) => inlet.call("POST", `${path}/events/${eventId}/replay`, { key }),
    test: inlet.call("POST", `${path}/webhook/test`, { key }),
    /** The only event, once its delivery is as expected. */
    only: (expected: (delivery: Listed["delivery"]) => boolean) =>
      Effect.map(
        eventually(events, ([first]) => first !== undefined && expected(first.delivery)),
        ([first]) => first as Listed
      )
  }
})
