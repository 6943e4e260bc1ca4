import { useLocation } from "preact-iso"
import { call } from "../api/Api.ts"
import { useLoaded } from "../api/Loaded.ts"
import { domains, hasMoreDomains } from "../api/Session.ts"

const search = "search"

/** Goes to the same page of another domain. */
export const DomainSwitch = ({ id }: { readonly id: string }) => {
  const { path, route } = useLocation()
  const listed = domains.value ?? []
  const isListed = listed.some((domain) => domain.id === id)
  // One of many domains, whose name the list does not have.
  const other = useLoaded(`${isListed} ${id}`, (signal) =>
    isListed ? Promise.resolve(undefined) : call("GET /api/domains/{id}", { path: [id], signal })
  )
  const all = other.value.value === undefined ? listed : [other.value.value, ...listed]
  return (
    <label class="switch">
      <span class="visually-hidden">Domain</span>
      <select
        value={id}
        onChange={({ currentTarget }) => {
          const page = /^\/console\/d\/[^/]+\/(inbox|refused|webhook|statistics)/.exec(path)?.[1] ?? "inbox"
          const { value } = currentTarget
          route(value === search ? "/console/domains" : `/console/d/${value}/${page}`)
        }}
      >
        {all.map((domain) => (
          <option key={domain.id} value={domain.id}>
            {domain.domain}
          </option>
        ))}
        {hasMoreDomains.value && <option value={search}>Search all domains…</option>}
      </select>
    </label>
  )
}
