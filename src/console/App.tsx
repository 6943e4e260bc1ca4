import { useSignal } from "@preact/signals"
import { useCallback, useEffect } from "preact/hooks"
import { LocationProvider, Route, Router, useLocation } from "preact-iso"
import { messageOf } from "./api/Api.ts"
import { domains, isOperator, refresh, state } from "./api/Session.ts"
import { Domains } from "./domains/Domains.tsx"
import { Problem } from "./frame/Dialog.tsx"
import { Frame } from "./frame/Frame.tsx"
import { Page } from "./frame/Page.tsx"
import { Skeleton } from "./frame/Skeleton.tsx"
import { Inbox } from "./inbox/Inbox.tsx"
import { KeysAndLimits } from "./keys/KeysAndLimits.tsx"
import { OperationalEvents } from "./operations/OperationalEvents.tsx"
import { AllDomains } from "./operator/AllDomains.tsx"
import { AllWorkspaces } from "./operator/AllWorkspaces.tsx"
import { Status } from "./operator/Status.tsx"
import { Refused } from "./refusals/Refused.tsx"
import { SignIn } from "./sign-in/SignIn.tsx"
import { Statistics } from "./statistics/Statistics.tsx"
import { Trace } from "./trace/Trace.tsx"
import { Webhook } from "./webhook/Webhook.tsx"

/** Redirects to the first page of the caller. */
const Start = () => {
  const { route } = useLocation()
  useEffect(() => {
    const all = domains.value ?? []
    // The newest domain may have no mail yet.
    const first = all.find(({ status }) => status === "live" || status === "verified") ?? all[0]
    if (state.value?.workspace == null) route(isOperator.value ? "/console/operator" : "/console/sign-in", true)
    else route(first === undefined ? "/console/domains" : `/console/d/${first.id}/inbox`, true)
  }, [route])
  return null
}

const NotFound = () => (
  <Page title="Not found">
    <p>
      The console has no such page. <a href="/console">Go to the inbox</a>
    </p>
  </Page>
)

const OperatorTrace = () => <Trace isForOperator />

const signInPath = "/console/sign-in"

/** The pages, for a caller who may see them. */
const Pages = () => {
  const { path, route } = useLocation()
  const workspace = state.value?.workspace ?? null
  const isForOperator = path.startsWith("/console/operator")
  const isAllowed =
    path === signInPath || (isForOperator ? isOperator.value : workspace !== null || path === "/console")
  useEffect(() => {
    if (!isAllowed) route(`${signInPath}?to=${encodeURIComponent(location.pathname + location.search)}`, true)
  }, [isAllowed, route])
  if (!isAllowed) return null
  return (
    <Frame>
      <Router>
        <Route path="/console" component={Start} />
        <Route path={signInPath} component={SignIn} />
        <Route path="/console/d/:domainId/inbox" component={Inbox} />
        <Route path="/console/d/:domainId/mail/:eventId" component={Inbox} />
        <Route path="/console/d/:domainId/webhook" component={Webhook} />
        <Route path="/console/d/:domainId/statistics" component={Statistics} />
        <Route path="/console/d/:domainId/refused" component={Refused} />
        <Route path="/console/trace" component={Trace} />
        <Route path="/console/domains" component={Domains} />
        <Route path="/console/domains/:domainId" component={Domains} />
        <Route path="/console/events" component={OperationalEvents} />
        <Route path="/console/keys" component={KeysAndLimits} />
        <Route path="/console/operator" component={Status} />
        <Route path="/console/operator/trace" component={OperatorTrace} />
        <Route path="/console/operator/workspaces" component={AllWorkspaces} />
        <Route path="/console/operator/domains" component={AllDomains} />
        <Route default component={NotFound} />
      </Router>
    </Frame>
  )
}

export const App = () => {
  const problem = useSignal<string | undefined>(undefined)
  const load = useCallback(async () => {
    try {
      await refresh()
      problem.value = undefined
    } catch (error) {
      problem.value = messageOf(error)
    }
  }, [problem])
  useEffect(() => void load(), [load])
  if (problem.value !== undefined) {
    return (
      <main id="main" class="page">
        <Problem message={problem.value} retry={load} />
      </main>
    )
  }
  if (state.value === undefined) {
    return (
      <main id="main" class="page">
        <Skeleton lines={6} />
      </main>
    )
  }
  return (
    <LocationProvider scope="/console">
      <Pages />
    </LocationProvider>
  )
}
