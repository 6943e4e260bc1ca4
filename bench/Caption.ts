import { availableParallelism } from "node:os"
import { DateTime, Effect } from "effect"
import type * as Postgres from "./Postgres.ts"

/** The date, machine and versions of a measurement. */
export const make = (postgres: Postgres.Server | undefined) =>
  Effect.map(
    DateTime.now,
    (now) =>
      `${DateTime.formatIsoDateUtc(now)}; Node ${process.versions.node}, PostgreSQL ${postgres?.version ?? "none"}, ${availableParallelism()} cores, shared with the generator, the webhook and PostgreSQL`
  )
