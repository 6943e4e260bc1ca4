import { NodeServices } from "@effect/platform-node"
import { ConfigProvider, Context, Effect, Layer, Logger } from "effect"
import { DataMemory } from "../../src/intake/DataMemory.ts"
import { Intake } from "../../src/intake/Intake.ts"
import { UnknownDomain } from "../../src/intake/Recipient.ts"
import { DomainId, DomainName } from "../../src/model/Domain.ts"
import { catchAll, catchAllOf } from "../../src/model/Webhook.ts"
import { RefusalNotes } from "../../src/refusals/RefusalNotes.ts"
import * as ErrorFlood from "../../src/smtp/ErrorFlood.ts"
import * as SessionBudget from "../../src/smtp/SessionBudget.ts"
import * as SmtpServer from "../../src/smtp/SmtpServer.ts"
import * as Ports from "../Ports.ts"

const domain = DomainName.make("known.example")
const domainId = DomainId.make("01981c9e-4f00-7000-8000-000000000001")

/** Accepts mail for one domain and stores nothing. */
const known: Intake["Service"] = {
  admit: (address) =>
    address.endsWith(`@${domain}`)
      ? Effect.succeed({
          address,
          domain,
          domainId,
          workspaceId: null,
          route: { id: catchAllOf(domainId), pattern: catchAll, action: "webhook" },
          rules: [],
          spamAction: "tag"
        })
      : Effect.fail(new UnknownDomain()),
  receive: () => Effect.succeed([])
}

/** The SMTP server with an Intake of the test, without a database. */
export class SmtpAlone extends Context.Service<
  SmtpAlone,
  {
    readonly port: number
    /** Its log lines. */
    readonly logged: ReadonlyArray<string>
  }
>()("inlet/test/SmtpAlone") {
  static readonly layer = ({
    bounds = {},
    flood = {},
    intake = {},
    settings = {}
  }: {
    readonly bounds?: Partial<ReturnType<typeof SessionBudget.SessionBounds.defaultValue>>
    readonly flood?: Partial<typeof ErrorFlood.FloodBounds.Service>
    readonly intake?: Partial<Intake["Service"]>
    readonly settings?: Readonly<Record<string, string>>
  }) =>
    Layer.unwrap(
      Effect.gen(function* () {
        const port = yield* Ports.free
        const logged: Array<string> = []
        const env = { SMTP_PORT: `${port}`, ...settings }
        return Layer.succeed(SmtpAlone, { port, logged }).pipe(
          Layer.provideMerge(SmtpServer.layer),
          Layer.provide([
            DataMemory.layer,
            RefusalNotes.layerNone,
            Layer.succeed(Intake, { ...known, ...intake }),
            Logger.layer([Logger.map(Logger.formatSimple, (line) => void logged.push(line))]),
            Layer.succeed(SessionBudget.SessionBounds, {
              ...SessionBudget.SessionBounds.defaultValue(),
              ...bounds
            }),
            Layer.succeed(ErrorFlood.FloodBounds, { ...ErrorFlood.FloodBounds.defaultValue(), ...flood })
          ]),
          Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env })))
        )
      })
    ).pipe(Layer.provide(NodeServices.layer))
}
