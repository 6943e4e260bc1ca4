import { useLocation } from "preact-iso"
import { useDomain } from "../api/DomainOf.ts"
import { domains, hasMoreDomains } from "../api/Session.ts"

const search = "search"

/** Goes to the same page of another domain. */
export const DomainSwitch = ({ id }: { readonly id: string }) => {
  const { path, route } = useLocation()
  const listed = domains.value ?? []
  const { domain: shown } = useDomain(id)
  const all = shown === undefined || listed.some((domain) => domain.id === id) ? listed : [shown, ...listed]
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
