import { randomUUID } from "node:crypto"
import { NodeServices } from "@effect/platform-node"
import { Context, Effect, FileSystem, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { DomainId } from "../../src/model/Domain.ts"
import { InboundEmailId, rawRef } from "../../src/model/InboundEmail.ts"
import { RawStore } from "../../src/providers/storage/RawStore.ts"
import * as RawStoreFile from "../../src/providers/storage/RawStoreFile.ts"
import * as RawErasures from "../../src/retention/RawErasures.ts"
import * as RemovedDomains from "../../src/retention/RemovedDomains.ts"

/** The folder of a raw store. */
export const folder = FileSystem.FileSystem.use((fs) => fs.makeTempDirectoryScoped({ prefix: "inlet-erase-" })).pipe(
  Effect.provide(NodeServices.layer)
)

/** A domain with messages in a segment of its own, and an eraser for them. */
export const make = Effect.fnUntraced(function* (messages: number, bytes: number, root: string) {
  const sql = yield* SqlClient.SqlClient
  const store = yield* Layer.build(RawStoreFile.layer(root))
  const raw = Context.get(store, RawStore)
  const domain = DomainId.make(randomUUID())
  yield* sql`
    INSERT INTO domains (id, name, origin, status, verified_at) VALUES (${domain}, ${domain}, 'demo', 'verified', now())
  `
  const keep = Effect.gen(function* () {
    const id = InboundEmailId.make(randomUUID())
    const place = yield* raw.put(rawRef(domain, id), [Buffer.alloc(bytes, "x")])
    return { id, place }
  })
  const row = ({ id, place }: Effect.Success<typeof keep>) => sql`
    INSERT INTO inbound_emails (
      id, domain_id, received_at, sha256, mail_from, helo, remote_address, recipients, state, segment, raw_at, raw_bytes,
      trace_bytes
    )
    SELECT ${id}, id, now(), '', '', '', '', '{}', 'read',
      ${place?.segment ?? null}::uuid, ${BigInt(place?.at ?? 0)}::bigint, ${place?.bytes ?? null}::integer, 0
    FROM domains WHERE id = ${domain} FOR KEY SHARE
  `
  const kept = yield* Effect.replicateEffect(keep, messages, { concurrency: 64 })
  yield* Effect.forEach(kept, row, { discard: true })
  const removal = Effect.map(
    RemovedDomains.make(() => Effect.void),
    (removeSome) => removeSome(500)
  )
  const erase = yield* RawErasures.make.pipe(Effect.provide(store))
  const [segment = ""] = kept.flatMap(({ place }) => place?.segment ?? [])
  return {
    sql,
    file: `${root}/segments/${segment}.seg`,
    keep,
    row,
    erase,
    domain,
    detach: sql`DELETE FROM domains WHERE id = ${domain}`,
    /** Checks that its mail is removed too. */
    remove: sql`DELETE FROM domains WHERE id = ${domain}`.pipe(
      Effect.andThen(Effect.repeat(yield* removal, { until: (left) => left === undefined }))
    )
  }
}, Effect.provide(NodeServices.layer))
