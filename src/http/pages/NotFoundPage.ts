import * as PageFrame from "./PageFrame.ts"

/** What programs get. */
export const noRoute = "No such route. GET /llms.txt describes the API, and GET /docs has every route"

/** The page for unknown URLs, with links to the start page and the docs. */
export const page = PageFrame.render({
  title: "No such page · Inlet",
  body: `<main class="told" id="main" tabindex="-1">
<p class="kicker">404</p>
<h1>Page not found.</h1>
<p class="lead">The address is mistyped, or the page was removed.</p>
<ul class="ways">
<li><a href="/">The start page</a>: what Inlet does.</li>
<li><a href="/docs">The API reference</a>: every route and field.</li>
<li><a href="/llms.txt">llms.txt</a>: the same for agents, in short.</li>
</ul>
</main>`
})

/** Checks by `Accept` whether a browser sent the request. */
export const isWanted = ({
  accept = "",
  method,
  path
}: {
  readonly accept: string | undefined
  readonly method: string
  readonly path: string
}): boolean =>
  (method === "GET" || method === "HEAD") &&
  !/^\/(api|admin)(\/|$)/.test(path) &&
  accept.includes("text/html") &&
  !accept.includes("application/json")
