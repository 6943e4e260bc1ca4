import { Context, Function } from "effect"
import { HttpApi } from "effect/http-api"
import { Authorization } from "../requests/Authorization.ts"
import { IngestKeys } from "../requests/IngestKeys.ts"
import { LimitedKeys } from "../requests/LimitedKeys.ts"
import { ReadKeys } from "../requests/ReadKeys.ts"
import type { Api } from "./Api.ts"

const bearer = (description: string) => ({ type: "http", scheme: "bearer", description })

/** The security schemes of the keys of a workspace. */
export const schemes = {
  bearer: bearer("The workspace's own API key: ak_live_…"),
  readKey: bearer("A read-only key without a limit: ak_read_…"),
  limitedReadKey: bearer("A read-only key with a pattern or a domain_id: ak_read_…"),
  ingestKey: bearer("A key of a relay: ak_ingest_…")
}

type Scheme = keyof typeof schemes

/** The schemes of each operation that asks for a key of a workspace, by its operationId. */
export const ofApi = Function.memoize((api: typeof Api): ReadonlyMap<string, ReadonlyArray<Scheme>> => {
  const all = new Map<string, ReadonlyArray<Scheme>>()
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint: { annotations, identifier }, group, middleware }) => {
      if (![...middleware].some(({ key }) => key === Authorization.key)) return
      all.set(`${group.identifier}.${identifier}`, [
        "bearer",
        ...(Context.get(annotations, ReadKeys) ? (["readKey"] as const) : []),
        ...(Context.get(annotations, LimitedKeys) === "refused" ? [] : (["limitedReadKey"] as const)),
        ...(Context.get(annotations, IngestKeys) ? (["ingestKey"] as const) : [])
      ])
    }
  })
  return all
})

/** The keys beside the workspace's own that an operation takes, in words. Undefined if it takes none. */
export const wordsOf = (security: ReadonlyArray<Readonly<Record<string, unknown>>>): string | undefined => {
  const takes = (scheme: Scheme) => security.some((one) => scheme in one)
  if (takes("readKey")) return takes("limitedReadKey") ? "read key" : "read key without a limit"
  if (takes("limitedReadKey")) return "read key with a limit"
  return takes("ingestKey") ? "ingest key" : undefined
}
