import { computed, signal } from "@preact/signals"
import { call, showsWorkspace, whenUnauthorized } from "./Api.ts"
import type { Answers, Domain } from "./Contract.ts"

export type State = Answers["GET /api/console/state"]

/** The caller and the service. Undefined until the service has answered. */
export const state = signal<State | undefined>(undefined)

/** The newest domains of the workspace, up to 100. Undefined until they are loaded. */
export const domains = signal<ReadonlyArray<Domain> | undefined>(undefined)

/** Whether the workspace has more than these. */
export const hasMoreDomains = signal(false)

/** Whether the session ended while this page was open. */
export const hasEnded = signal(false)

/** A read key sees and cannot change. */
export const isReadOnly = computed(() => state.value?.workspace?.scope === "read")

export const isOperator = computed(() => state.value?.operator === true)

/** Loads the state, and the domains if there is a workspace. */
export const refresh = async () => {
  const now = await call("GET /api/console/state")
  if (now.workspace !== null) await refreshDomains(now.workspace.workspace_id)
  else domains.value = undefined
  showsWorkspace(now.workspace?.workspace_id)
  state.value = now
}

export const refreshDomains = async (workspaceId?: string) => {
  const page = await call("GET /api/domains", { workspaceId })
  domains.value = page.domains
  hasMoreDomains.value = page.next_cursor !== null
}

/** Opens a session with an API key, the operator's token or the token of a link. */
export const signIn = async (credential: { readonly key: string } | { readonly link: string }) => {
  const { operator } = await call("POST /api/console/session", { body: credential })
  hasEnded.value = false
  await refresh()
  return operator
}

export const signOut = async () => {
  await call("DELETE /api/console/session")
  await refresh()
}

whenUnauthorized(() => {
  if (state.value?.workspace != null || isOperator.value) hasEnded.value = true
  void refresh().catch(() => {})
})
