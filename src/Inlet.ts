import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { endLeases as endCertificateLeases } from "./certificates/CertificateRows.ts"
import * as CertificateWorker from "./certificates/CertificateWorker.ts"
import { ChallengeAnswers } from "./certificates/ChallengeAnswers.ts"
import * as CurrentCertificate from "./certificates/CurrentCertificate.ts"
import { IsOwn } from "./database/Database.ts"
import * as CatchingUp from "./delivery/CatchingUp.ts"
import { DeliveryQueue } from "./delivery/DeliveryQueue.ts"
import * as DeliveryRows from "./delivery/DeliveryRows.ts"
import * as DeliveryWorker from "./delivery/DeliveryWorker.ts"
import { Egress } from "./delivery/Egress.ts"
import { EventFeed } from "./delivery/EventFeed.ts"
import { FormatSender } from "./delivery/FormatSender.ts"
import { Handover } from "./delivery/Handover.ts"
import { PullDeliveries } from "./delivery/PullDeliveries.ts"
import * as QueueMetrics from "./delivery/QueueMetrics.ts"
import { RequestSigner } from "./delivery/RequestSigner.ts"
import { WebhookHealth } from "./delivery/WebhookHealth.ts"
import { WebhookSender } from "./delivery/WebhookSender.ts"
import { WebhookTrial } from "./delivery/WebhookTrial.ts"
import { DemoInboxes } from "./demo/DemoInboxes.ts"
import { Domains } from "./domains/Domains.ts"
import { Verification } from "./domains/Verification.ts"
import { Attempts } from "./events/Attempts.ts"
import { EventContents } from "./events/EventContents.ts"
import { Events } from "./events/Events.ts"
import { RawMessages } from "./events/RawMessages.ts"
import { Replays } from "./events/Replays.ts"
import * as ReplayWorker from "./events/ReplayWorker.ts"
import { WorkspaceEvents } from "./events/WorkspaceEvents.ts"
import { DomainHealths } from "./health/DomainHealths.ts"
import * as HttpServer from "./http/HttpServer.ts"
import * as MonitorServer from "./http/MonitorServer.ts"
import { Operator } from "./http/requests/Operator.ts"
import { Ingest } from "./ingest/Ingest.ts"
import { DataMemory } from "./intake/DataMemory.ts"
import { Intake } from "./intake/Intake.ts"
import * as Mcp from "./mcp/Mcp.ts"
import * as CertificateWatch from "./operations/CertificateWatch.ts"
import { OperationalEvents } from "./operations/OperationalEvents.ts"
import { endLeases as endOperationalLeases } from "./operations/OperationalQueue.ts"
import { OperationalWebhook } from "./operations/OperationalWebhook.ts"
import * as OperationalWorker from "./operations/OperationalWorker.ts"
import { AllDomains } from "./operator/AllDomains.ts"
import { AllWorkspaces } from "./operator/AllWorkspaces.ts"
import { ServiceStatus } from "./operator/ServiceStatus.ts"
import { Fulfilment } from "./purchase/Fulfilment.ts"
import { endLeases as endOrderLeases, Orders } from "./purchase/Orders.ts"
import { Payments } from "./purchase/Payments.ts"
import { Provisioning } from "./purchase/Provisioning.ts"
import { Purchase } from "./purchase/Purchase.ts"
import * as PurchaseWorker from "./purchase/PurchaseWorker.ts"
import { Renewals } from "./purchase/Renewals.ts"
import { Search } from "./purchase/Search.ts"
import * as MailCarrier from "./reading/MailCarrier.ts"
import { Reader } from "./reading/Reader.ts"
import * as ReaderWorker from "./reading/ReaderWorker.ts"
import * as SenderQueries from "./reading/SenderQueries.ts"
import * as UnreadMail from "./reading/UnreadMail.ts"
import { RefusalNotes } from "./refusals/RefusalNotes.ts"
import { Refusals } from "./refusals/Refusals.ts"
import { UnknownRefusals } from "./refusals/UnknownRefusals.ts"
import * as RawErasures from "./retention/RawErasures.ts"
import * as RemovedDomains from "./retention/RemovedDomains.ts"
import * as Sweeper from "./retention/Sweeper.ts"
import * as Settings from "./Settings.ts"
import * as DueWork from "./schedule/DueWork.ts"
import { Simulation } from "./simulate/Simulation.ts"
import * as SmtpServer from "./smtp/SmtpServer.ts"
import * as DayCounter from "./statistics/DayCounter.ts"
import { DomainStatistics } from "./statistics/DomainStatistics.ts"
import { Traces } from "./trace/Traces.ts"
import { SenderRules } from "./trust/SenderRules.ts"
import { Webhooks } from "./webhooks/Webhooks.ts"
import { ClientLimits } from "./workspaces/ClientLimits.ts"
import { endLeases as endIdempotencyLeases } from "./workspaces/IdempotencyKeys.ts"
import { WorkspaceLimits } from "./workspaces/WorkspaceLimits.ts"
import { Workspaces } from "./workspaces/Workspaces.ts"

/** Stores mail, and hands it to the reader of this process, which all roles share. */
const intake = Layer.merge(Intake.layerNoDeps.pipe(Layer.provide(Reader.layer)), DataMemory.layer)

/** Accepts mail over SMTP. */
export const smtp = SmtpServer.layer.pipe(
  Layer.provide([intake, RefusalNotes.layer]),
  Layer.merge(CertificateWatch.layer),
  Layer.provide(CurrentCertificate.layer)
)

/** Parses leftover mail, delivers events, and removes expired data. */
export const worker = Layer.mergeAll(
  ReaderWorker.layer.pipe(Layer.provide(Reader.layer)),
  QueueMetrics.layer.pipe(Layer.provide(DeliveryQueue.layer)),
  CatchingUp.layer,
  ReplayWorker.layer,
  CertificateWorker.layer,
  // Requests finish while open messages do.
  Layer.effectDiscard(Handover.use(({ drain }) => Effect.addFinalizer(() => drain))),
  PurchaseWorker.layer.pipe(
    Layer.provide([Fulfilment.layer, Payments.layer, Provisioning.layer, Renewals.layer]),
    Layer.provide([Orders.layer, Verification.layer])
  ),
  DayCounter.layer,
  OperationalWorker.layer.pipe(Layer.provide(WebhookSender.layer)),
  Sweeper.layerWorker.pipe(Layer.provide(Sweeper.Sweeper.layer)),
  RemovedDomains.layerWorker,
  RawErasures.layerWorker,
  Layer.effectDiscard(Effect.logInfo("The worker runs"))
).pipe(Layer.provide(DueWork.layer))

/** Serves the API, and accepts simulated mail and that of relays. */
export const http = HttpServer.layerWith(Mcp.layer).pipe(
  Layer.provide([
    Events.layer,
    WorkspaceEvents.layer,
    Attempts.layer,
    Replays.layer,
    Webhooks.layer,
    SenderRules.layer,
    WebhookTrial.layer.pipe(Layer.provideMerge(RequestSigner.layer)),
    DomainHealths.layer.pipe(Layer.provideMerge([WebhookHealth.layer, DomainStatistics.layer])),
    OperationalEvents.layer,
    OperationalWebhook.layer,
    ServiceStatus.layer,
    AllDomains.layer,
    AllWorkspaces.layer.pipe(Layer.provide(Workspaces.layer)),
    PullDeliveries.layer,
    EventContents.layer.pipe(Layer.provide(Events.layer)),
    RawMessages.layer,
    Refusals.layer,
    UnknownRefusals.layer,
    ChallengeAnswers.layer,
    Traces.layer,
    Verification.layer,
    Workspaces.layer
  ]),
  Layer.provide([Purchase.layer, Payments.layer]),
  Layer.provide(Fulfilment.layer),
  Layer.provide([Orders.layer, Search.layer]),
  Layer.provide([Domains.layer, DemoInboxes.layer, Egress.layer]),
  Layer.provide([Simulation.layer, Ingest.layer]),
  Layer.provide([intake, RefusalNotes.layer]),
  Layer.provide([ClientLimits.layer, WorkspaceLimits.layer])
)

/** The last process on an embedded database is gone, so its leases are void. */
const endLeases = Layer.effectDiscard(
  Effect.gen(function* () {
    if (!(yield* IsOwn)) return
    const sql = yield* SqlClient.SqlClient
    yield* UnreadMail.endLeases(sql)
    yield* DeliveryRows.endLeases(sql)
    yield* endOrderLeases(sql)
    yield* endIdempotencyLeases(sql)
    yield* endOperationalLeases(sql)
    yield* endCertificateLeases(sql)
  })
)

/** Reads the token before a port is open, so that a start without it accepts no mail. */
const operatorToken = Layer.effectDiscard(
  Effect.flatMap(Settings.roles, (roles) => (roles.includes("http") ? Effect.asVoid(Operator.token) : Effect.void))
)

const runtimes = { http, smtp, worker }

/** Makes deliveries, including those that this process writes. It stops after the layers that write them. */
const deliveries = DeliveryWorker.layer.pipe(
  Layer.provide([DeliveryQueue.layer, FormatSender.layer]),
  Layer.provide([WebhookSender.layer, MailCarrier.layer, DueWork.layer])
)

/** The service with the roles in `ROLES`, on a database and providers to be supplied. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const roles = yield* Settings.roles
    const [first, ...others] = roles.map((role) => runtimes[role])
    return first === undefined
      ? Layer.empty
      : Layer.mergeAll(first, ...others, MonitorServer.layer).pipe(
          Layer.provide(roles.includes("worker") ? deliveries : Handover.layerNone)
        )
  })
).pipe(Layer.provide(EventFeed.layer), Layer.provide([endLeases, operatorToken, SenderQueries.layer]))
