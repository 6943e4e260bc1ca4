import { Console, Effect, Layer } from "effect"
import * as Settings from "../Settings.ts"
import { commandLine } from "../Version.ts"

/** Prints the addresses and the first steps once the service is up. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const mode = yield* Settings.mode
    const roles = yield* Settings.roles
    const { logFormat } = yield* Settings.telemetry
    const http = yield* Settings.http
    const smtp = yield* Settings.smtp
    const isPrivate = (yield* Settings.clients).workspaceCreation === "admin"
    // Programs read the log lines instead.
    if (logFormat === "json") return
    const lines = [
      "",
      `  Mode  ${mode}${mode === "production" ? "" : "; NODE_ENV=production is for mail that matters"}`,
      ...(roles.includes("http") ? [`  API   ${http.publicUrl}   reference ${http.publicUrl}/docs`] : []),
      ...(roles.includes("smtp") ? [`  SMTP  ${smtp.host}:${smtp.port}`] : []),
      ...(roles.includes("http") && !isPrivate ? [`  Demo  ${http.publicUrl}/`] : []),
      ...(roles.includes("http") ? [`  Console  ${http.publicUrl}/console`] : []),
      ...(roles.includes("http") && roles.includes("smtp") && !http.production
        ? tour({ url: http.publicUrl, port: smtp.port, isPrivate })
        : []),
      ""
    ]
    yield* Console.log(lines.join("\n"))
  })
)

const tour = ({
  isPrivate,
  port,
  url
}: {
  readonly url: string
  readonly port: number
  readonly isPrivate: boolean
}) => [
  "",
  "  See mail arrive (docs/tutorials/first-mail.md has every step):",
  isPrivate
    ? `    1. ${commandLine} admin workspaces create tour`
    : `    1. curl -s -X POST ${url}/api/workspaces -H 'Content-Type: application/json' -d '{"name":"tour"}'`,
  `    2. curl -s -X POST ${url}/api/instant-inbox -H 'Authorization: Bearer <api_key>'`,
  `    3. ${commandLine} send --to <address>${port === Settings.defaultSmtpPort ? "" : ` --port ${port}`}`
]
