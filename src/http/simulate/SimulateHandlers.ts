import { Duration, Effect, Option } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Domains } from "../../domains/Domains.ts"
import { Conflict } from "../../model/ApiError.ts"
import type { Domain } from "../../model/Domain.ts"
import * as Sample from "../../simulate/Sample.ts"
import { Simulation } from "../../simulate/Simulation.ts"
import { CurrentWorkspace } from "../requests/CurrentWorkspace.ts"
import * as GroupApi from "../requests/GroupApi.ts"
import { MessageShare } from "../requests/MessageMemory.ts"
import { OpenRequests } from "../requests/OpenRequests.ts"
import type { SimulatedMail } from "./SimulateApi.ts"
import { SimulateApi } from "./SimulateApi.ts"

export const layer = HttpApiBuilder.group(
  GroupApi.of(SimulateApi),
  "simulate",
  Effect.fn(function* (handlers) {
    const domains = yield* Domains
    const simulation = yield* Simulation
    const open = yield* OpenRequests

    return handlers.handleAll({
      simulate: Effect.fnUntraced(function* ({ params, payload, query }) {
        const { id: workspaceId, untilReplaced } = yield* CurrentWorkspace
        const { during, keep, take } = yield* MessageShare
        const domain = yield* domains.get({ workspaceId, id: params.id })
        yield* takesMail(domain)
        const { wait = 0 } = query
        if (wait > 0) yield* open.take(workspaceId)
        const inbox = { domainId: domain.id, domain: domain.domain }

        const received = Effect.gen(function* () {
          if ("message" in payload) {
            return yield* simulation.receive(inbox, { ...query, message: payload.message, keep })
          }
          const { recipient = query.recipient, from = query.from, authentication } = payload
          const draft = draftOf(payload, from)
          const message = yield* simulation.compose(inbox, draft, { recipient, reserve: take })
          const returnPath = from ?? draft("").returnPath
          return yield* simulation.receive(inbox, { message, recipient, from: returnPath, authentication, keep })
        })
        const id = yield* during(received)

        const brief =
          wait > 0
            ? yield* Effect.raceFirst(simulation.events(inbox, id, Duration.seconds(wait)), untilReplaced)
            : Option.none()
        return Option.match(brief, {
          onNone: () => HttpServerResponse.jsonUnsafe({ inbound_email_id: id }, { status: 202 }),
          // The events are JSON already.
          onSome: (events) =>
            HttpServerResponse.text(`{"inbound_email_id":"${id}","events":[${events.join(",")}]}`, {
              status: 201,
              contentType: "application/json"
            })
        })
      })
    })
  })
)

/** Fails if SMTP would answer 550, with the next step. */
export const takesMail = ({ disabled_reason, domain, id, status }: Domain) => {
  switch (status) {
    case "mx_pending":
    case "verified":
    case "live":
      return Effect.void
    case "disabled":
      return new Conflict({ message: `${domain} is disabled: ${disabled_reason}` })
    default:
      return new Conflict({
        message: `${domain} accepts no mail before it is verified. Publish its TXT record, then POST /api/domains/${id}/verify`
      })
  }
}

const someone = "Simulated Sender <sender@simulate.example>"

/** The requested mail, with the sample's values for missing fields. */
export const draftOf =
  ({ attachments, authentication: _a, from: _f, recipient: _r, sample, ...own }: SimulatedMail, from?: string) =>
  (recipient: string): Sample.Draft => {
    const base: Sample.Draft = sample === undefined ? { from: someone, subject: "" } : Sample.of(sample, recipient)
    return {
      ...base,
      ...own,
      // A mail from the null sender still has an author.
      ...(from === undefined || from === "" ? {} : { from }),
      headers: { ...base.headers, ...own.headers },
      ...(attachments === undefined
        ? {}
        : {
            isReport: false,
            attachments: attachments.map(({ contentType = "application/octet-stream", ...rest }) => ({
              ...rest,
              contentType
            }))
          })
    }
  }
