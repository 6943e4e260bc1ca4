import { HttpServerResponse } from "effect/http"

/** The Content-Security-Policy of pages: only own resources. */
export const headers = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  // Small, and revalidated so that it is never older than the service.
  "cache-control": "no-cache"
}

/** Escapes text for HTML, between tags and in attributes. */
export const escape = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")

/** The frame of every page. `title` is text, `body` is HTML with a `main` of that id. */
export const render = ({
  assets = ["inlet.css", "copy.js"],
  body,
  description,
  hasFoot = true,
  title
}: {
  readonly title: string
  readonly body: string
  readonly description?: string
  /** Style sheets and modules, in order. */
  readonly assets?: ReadonlyArray<string>
  /** Links at the end of the page. */
  readonly hasFoot?: boolean
}): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<meta name="color-scheme" content="light dark" />
${description === undefined ? "" : `<meta name="description" content="${escape(description)}" />`}
<title>${escape(title)}</title>
<link rel="icon" href="/assets/inlet.svg" type="image/svg+xml" />
${assets.map(asset).join("\n")}
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="bar"><a class="mark" href="/">Inlet</a><nav aria-label="Inlet"><a href="/console">Console</a><a href="/docs">API reference</a><a href="/llms.txt">llms.txt</a></nav></header>
${body}
<p class="visually-hidden" id="announce" role="status" aria-live="polite"></p>
${hasFoot ? foot : ""}
</body>
</html>
`

const foot = `<footer class="foot"><p><a href="/">Start</a> · <a href="/console">Console</a> · <a href="/docs">API reference</a> · <a href="/openapi.json">OpenAPI</a> · <a href="/llms.txt">llms.txt</a></p></footer>`

const asset = (name: string) =>
  name.endsWith(".js")
    ? `<script type="module" src="/assets/${name}"></script>`
    : `<link rel="stylesheet" href="/assets/${name}" />`

/** Returns a page as an answer. */
export const answer = (page: string, status = 200) =>
  HttpServerResponse.text(page, { contentType: "text/html; charset=utf-8", headers, status })
