import { signal, useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { useEffect } from "preact/hooks"
import { useLocation } from "preact-iso"
import { domains, isOperator, isReadOnly, signOut, state } from "../api/Session.ts"
import { useAction } from "./Action.ts"
import { Problem } from "./Dialog.tsx"
import { DomainSwitch } from "./DomainSwitch.tsx"
import { QuotaNotice } from "./QuotaNotice.tsx"

/** The domain of the last page that had one. */
const last = signal<string | undefined>(undefined)

const named = (path: string) => /^\/console\/(?:d|domains)\/([^/]+)/.exec(path)?.[1]

/** The domain in the address, or the last one, or the first one. */
const domainOf = (path: string) =>
  named(path) ?? (domains.value?.find(({ id }) => id === last.value) ?? domains.value?.at(0))?.id

const Item = ({ children, href, path }: { href: string; path: string; children: ComponentChildren }) => (
  <a href={href} aria-current={path === href || path.startsWith(`${href}/`) ? "page" : undefined}>
    {children}
  </a>
)

/** Surrounds every page of the console with navigation, domain and workspace. */
export const Frame = ({ children }: { readonly children: ComponentChildren }) => {
  const { path, route } = useLocation()
  const leaving = useAction()
  const workspace = state.value?.workspace ?? null
  const domain = domainOf(path)
  // Beside the button of the menu.
  const shown = domains.value?.find(({ id }) => id === named(path))?.domain
  // On a narrow screen alone.
  const isMenuOpen = useSignal(false)

  useEffect(() => {
    last.value = named(path) ?? last.value
    isMenuOpen.value = false
  }, [path])

  // One root for both forms, so that a sign-in does not lose the state of its page.
  const isAlone = workspace === null && !isOperator.value
  return (
    <div class={isAlone ? "frame single" : "frame"}>
      {/* The page of the limits has the same figures. */}
      {workspace !== null && path !== "/console/keys" && <QuotaNotice workspaceId={workspace.workspace_id} />}
      {!isAlone && (
        <aside class="side" data-open={isMenuOpen.value ? "" : undefined}>
          <button
            type="button"
            class="menu small"
            aria-label="Menu"
            aria-expanded={isMenuOpen.value}
            onClick={() => {
              isMenuOpen.value = !isMenuOpen.value
            }}
          >
            ☰
          </button>
          <p class="menu-place" aria-hidden="true">
            {path.startsWith("/console/operator") ? "Operator" : (shown ?? workspace?.name)}
          </p>
          <nav aria-label="Console">
            {workspace !== null && (
              <>
                {domain !== undefined && (
                  <>
                    <DomainSwitch id={domain} />
                    <Item path={path.replace("/mail/", "/inbox/")} href={`/console/d/${domain}/inbox`}>
                      Inbox
                    </Item>
                    <Item path={path} href={`/console/d/${domain}/refused`}>
                      Refused mail
                    </Item>
                    <Item path={path} href={`/console/d/${domain}/webhook`}>
                      Webhook
                    </Item>
                    <Item path={path} href={`/console/d/${domain}/statistics`}>
                      Statistics
                    </Item>
                  </>
                )}
                <p class="side-title" title={workspace.name}>
                  {workspace.name}
                </p>
                <Item path={path} href="/console/trace">
                  Where is my mail?
                </Item>
                <Item path={path} href="/console/domains">
                  Domains
                </Item>
                <Item path={path} href="/console/events">
                  Operational events
                </Item>
                <Item path={path} href="/console/keys">
                  Keys and limits
                </Item>
              </>
            )}
            {isOperator.value && (
              <>
                <p class="side-title">Operator</p>
                <Item path={path === "/console/operator" ? path : ""} href="/console/operator">
                  Status
                </Item>
                <Item path={path} href="/console/operator/trace">
                  Find any mail
                </Item>
                <Item path={path} href="/console/operator/workspaces">
                  Workspaces
                </Item>
                <Item path={path} href="/console/operator/domains">
                  All domains
                </Item>
              </>
            )}
          </nav>
          <div class="side-foot">
            {isReadOnly.value && <p class="note">Read key: you can look, not change.</p>}
            <a href="/console/sign-in">{workspace === null ? "Sign in" : "Switch workspace"}</a>
            <button
              type="button"
              class="small"
              disabled={leaving.isRunning.value}
              onClick={() => void leaving.run(() => signOut().then(() => route("/console/sign-in")))}
            >
              Sign out
            </button>
            <Problem message={leaving.error.value} />
          </div>
        </aside>
      )}
      <main id="main" class={isAlone ? "page alone" : "page"} tabIndex={-1}>
        {children}
      </main>
    </div>
  )
}
