import { call } from "./Api.ts"
import { useLoaded } from "./Loaded.ts"
import { domains } from "./Session.ts"

/** A domain of the workspace. One that is not among the newest is loaded by itself. */
export const useDomain = (id: string) => {
  const listed = domains.value?.find((domain) => domain.id === id)
  const isLoaded = listed === undefined && domains.value !== undefined
  const other = useLoaded(`${isLoaded} ${id}`, (signal) =>
    isLoaded ? call("GET /api/domains/{id}", { path: [id], signal }) : Promise.resolve(undefined)
  )
  return { domain: listed ?? other.value.value, error: other.error.value }
}
