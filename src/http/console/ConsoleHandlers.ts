import { Clock, DateTime, Effect, Redacted } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import * as WorkspaceUsage from "../../domains/WorkspaceUsage.ts"
import { Forbidden, Unauthorized } from "../../model/ApiError.ts"
import { mailOf } from "../../model/KeyLimit.ts"
import * as Settings from "../../Settings.ts"
import { version } from "../../Version.ts"
import { ConsoleSessions, linkSeconds } from "../../workspaces/ConsoleSessions.ts"
import { Workspaces } from "../../workspaces/Workspaces.ts"
import * as ConsoleCookie from "../requests/ConsoleCookie.ts"
import { CurrentWorkspace } from "../requests/CurrentWorkspace.ts"
import * as GroupApi from "../requests/GroupApi.ts"
import * as IngestKeys from "../requests/IngestKeys.ts"
import { OpenRequests } from "../requests/OpenRequests.ts"
import { Operator } from "../requests/Operator.ts"
import * as SameOrigin from "../requests/SameOrigin.ts"
import { ConsoleApi } from "./ConsoleApi.ts"

const none = Redacted.make("")

const wrongKey =
  "This key opens no workspace here. Paste a whole API key (ak_live_…), read key (ak_read_…) or operator token of this service"

/** A GET is never refused for its origin. */
const readable = <A, E, R>(checked: Effect.Effect<A, E | Forbidden, R>) =>
  Effect.catchTag(checked, "Forbidden", Effect.die)

export const layer = HttpApiBuilder.group(
  GroupApi.of(ConsoleApi),
  "console",
  Effect.fn(function* (handlers) {
    const sessions = yield* ConsoleSessions
    const workspaces = yield* Workspaces
    const operator = yield* Operator
    const open = yield* OpenRequests
    const usage = yield* WorkspaceUsage.make
    const { production, publicUrl } = yield* Settings.http
    const { workspaceCreation } = yield* Settings.clients
    const smtp = (yield* Settings.smtpNearby) ?? null

    const workspaceOf = Effect.fnUntraced(function* (cookie: Redacted.Redacted | undefined) {
      if (cookie === undefined) return null
      return yield* sessions.authenticate(cookie).pipe(
        Effect.flatMap(({ id, scope }) =>
          Effect.map(usage(id), ({ name }) => ({
            workspace_id: id,
            name,
            scope: scope === "full" ? scope : ("read" as const)
          }))
        ),
        Effect.catchTag("Unauthorized", () => Effect.succeed(null))
      )
    })

    /** Counts the sign-in among the requests of the workspace. */
    const signedIn = Effect.fnUntraced(function* (key: Redacted.Redacted, browser: string | undefined) {
      yield* open.known(key)
      const { id, keyHash, keyId, limit, scope } = yield* workspaces
        .authenticate(key)
        .pipe(Effect.catchTag("Unauthorized", () => Effect.fail(new Unauthorized({ message: wrongKey }))))
      yield* open.enter(id, key)
      if (scope === "ingest") return yield* IngestKeys.refusal
      if (limit !== null) {
        return yield* new Forbidden({
          message: `This key sees only ${mailOf(limit)}, and the console shows all mail. Sign in with another key`
        })
      }
      return yield* sessions.open({ workspaceId: id, keyId, keyHash }, browser)
    })

    return handlers.handleAll({
      sessions: Effect.fnUntraced(function* () {
        const { id, sessionId } = yield* CurrentWorkspace
        return { sessions: yield* sessions.list(id, sessionId) }
      }),
      revoke: ({ params }) =>
        CurrentWorkspace.use(({ id }) => sessions.revoke({ workspaceId: id, id: params.sessionId })),
      link: Effect.fnUntraced(function* () {
        const token = yield* sessions.makeLink(yield* CurrentWorkspace)
        const now = yield* Clock.currentTimeMillis
        return {
          url: `${publicUrl}/console/sign-in#link=${Redacted.value(token)}`,
          expires_at: DateTime.makeUnsafe(now + linkSeconds * 1_000)
        }
      }),
      state: Effect.fnUntraced(function* () {
        return {
          workspace: yield* workspaceOf(yield* readable(ConsoleCookie.of("inlet_console", publicUrl))),
          operator: yield* readable(operator.isCaller(none)),
          workspace_creation: workspaceCreation,
          production,
          public_url: publicUrl,
          smtp,
          version
        }
      }),
      signIn: Effect.fnUntraced(function* ({ payload }) {
        const request = yield* HttpServerRequest.HttpServerRequest
        const refusal = SameOrigin.refusal(request, publicUrl)
        if (refusal !== undefined) return yield* refusal
        const browser = request.headers["user-agent"]
        const key = Redacted.make((payload.key ?? "").trim())
        const isOperator = payload.key !== undefined && operator.isToken(key)
        const cookie =
          isOperator && operator.tokenHash !== undefined
            ? yield* sessions.open({ workspaceId: null, keyId: null, keyHash: operator.tokenHash }, browser)
            : payload.link === undefined
              ? yield* signedIn(key, browser)
              : yield* sessions.redeem(Redacted.make(payload.link), browser)
        return HttpServerResponse.jsonUnsafe({ operator: isOperator }, { status: 201 }).pipe(
          ConsoleCookie.set(isOperator ? "inlet_operator" : "inlet_console", cookie, publicUrl)
        )
      }),
      signOut: Effect.fnUntraced(function* () {
        for (const name of ["inlet_console", "inlet_operator"] as const) {
          const cookie = yield* ConsoleCookie.of(name, publicUrl)
          if (cookie !== undefined) yield* sessions.signOut(cookie)
        }
        return HttpServerResponse.empty({ status: 204 }).pipe(
          ConsoleCookie.set("inlet_console", undefined, publicUrl),
          ConsoleCookie.set("inlet_operator", undefined, publicUrl)
        )
      })
    })
  })
)
