import * as PageFrame from "../pages/PageFrame.ts"
import * as Answers from "./OpenApiAnswers.ts"
import type { Document } from "./OpenApiDocument.ts"
import * as Article from "./ReferenceArticle.ts"
import * as Search from "./ReferenceSearch.ts"
import type { Shape } from "./SchemaWords.ts"

/** The reference at `/docs`: an overview, a page for each group of routes, and search, without scripts. */
export interface ReferencePages {
  /** HTML by path: `/docs`, `/docs/<group>`, `/docs/webhook`, `/docs/schemas`, `/docs/schemas/<name>`. */
  readonly pages: ReadonlyMap<`/${string}`, string>
  /** The page for `/docs?q=…`. */
  search(query: string): string
}

/** Renders the document for an instance with the public URL `url`. */
export const make = (document: Document, url: string): ReferencePages => {
  const { components, info, paths, tags } = document
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation }))
  )
  const groups = tags.map(({ description, name }) => ({
    name,
    description,
    href: `/docs/${slug(name)}` as const,
    routes: operations.filter(({ operation }) => operation.tags[0] === name)
  }))
  const webhooks = Object.values(document.webhooks).map(({ post }) => Article.webhook(post))

  const schemas = Object.entries(components.schemas)
    .filter(([name]) => name !== "Error")
    .map(([name, schema]) => {
      const shape = schema as Shape
      const href = Article.schemaPath(name)
      return { href, method: undefined, name, summary: "Schema", details: Search.fieldsOf(shape), shape }
    })

  const entries: ReadonlyArray<Search.Entry> = [
    ...groups.flatMap(({ href, routes }) =>
      routes.map(({ method, operation, path }) => ({
        href: `${href}#${operation.operationId}`,
        method,
        name: path,
        summary: operation.summary,
        details: Search.detailsOf(operation)
      }))
    ),
    ...schemas
  ]
  const indexed = Search.index(entries)

  const sections = [
    ...groups.map(({ href, name, routes }) => ({
      href,
      name,
      parts: routes.map(({ method, operation, path }) => ({
        href: `${href}#${operation.operationId}`,
        label: `${Article.verb(method)} ${Article.path(path)}`
      }))
    })),
    { href: "/docs/webhook", name: "Webhook", parts: [] },
    { href: "/docs/schemas", name: "Schemas", parts: [] }
  ]

  const page = (current: string, title: string, main: string, query = "") =>
    PageFrame.render({
      title: `${title} · Inlet`,
      assets: ["inlet.css", "reference.css"],
      body: `<div class="reference">
<div class="index">
<form class="search" role="search" action="/docs"><label class="visually-hidden" for="q">Search the API reference</label><input id="q" name="q" type="search" maxlength="100" placeholder="Search" value="${escape(query)}" /><button type="submit">Search</button></form>
<nav aria-label="API reference"><ul>${sections
        .map(({ href, name, parts }) => {
          const isCurrent = href === current
          const isAbove = href !== "/docs" && current.startsWith(`${href}/`)
          return `<li class="group"><a href="${href}"${isCurrent ? ' aria-current="page"' : isAbove ? ' aria-current="true"' : ""}>${escape(name)}</a>${
            isCurrent && parts.length > 0
              ? `<ul>${parts.map(({ href, label }) => `<li><a href="${href}">${label}</a></li>`).join("")}</ul>`
              : ""
          }</li>`
        })
        .join("")}</ul></nav>
</div>
<main id="main" tabindex="-1">
<h1>${escape(title)}</h1>
${main}
</main>
</div>`
    })

  const list = (found: ReadonlyArray<Search.Entry>) =>
    `<ul class="routes">${found
      .map(
        ({ href, method, name, summary }) =>
          `<li><a href="${href}">${method === undefined ? "" : `${Article.verb(method)} `}<code>${Article.path(name)}</code></a> <span>${Article.prose(summary)}</span></li>`
      )
      .join("")}</ul>`

  const errors = Object.entries(components.responses).map(
    ([name, { description }]) =>
      `<tr><td><code>${statusOf[name] ?? ""}</code></td><td>${Article.prose(description ?? "")}</td></tr>`
  )

  const overview = page(
    "/docs",
    "API reference",
    `<p class="lead">${Article.prose(info.description)}</p>
<p>Version ${escape(info.version)}, at <code>${escape(url)}</code>. Send <code>Authorization: Bearer &lt;api_key&gt;</code> unless a route needs no key. Bodies are JSON in UTF-8 with at most 256 KiB. Ids are UUIDs. Times are ISO 8601 in UTC.</p>
${groups
  .map(
    ({ description, href, name }) =>
      `<section><h2><a href="${href}">${escape(name)}</a></h2><p>${Article.prose(description)}.</p>${list(
        entries.filter((entry) => entry.href.startsWith(`${href}#`))
      )}</section>`
  )
  .join("\n")}
<section id="errors"><h2>Errors</h2>${Article.table(["status", "meaning"], errors)}</section>`
  )

  const pages = new Map<`/${string}`, string>([
    ["/docs", overview],
    ...groups.map(
      ({ description, href, name, routes }) =>
        [
          href,
          page(
            href,
            name,
            `<p class="lead">${Article.prose(description)}.</p>${routes
              .map(({ method, operation, path }) => Article.route(method, path, operation, url))
              .join("")}`
          )
        ] as const
    ),
    ["/docs/webhook", page("/docs/webhook", "Webhook", webhooks.join(""))],
    [
      "/docs/schemas",
      page(
        "/docs/schemas",
        "Schemas",
        list(schemas.map((entry) => ({ ...entry, summary: Article.summary(entry.shape) })))
      )
    ],
    ...schemas.map(({ href, name, shape }) => [href, page(href, name, Article.described(shape))] as const)
  ])

  return {
    pages,
    search: (query) => {
      const found = Search.find(indexed, query)
      const count = found.length === 1 ? "1 result" : `${found.length} results`
      return page(
        "",
        "Search",
        found.length === 0
          ? `<p class="lead">No route, parameter, field or schema matches <b>${escape(query)}</b>.</p><p>Try fewer words, or choose a group.</p>`
          : `<p class="lead">${count} for <b>${escape(query)}</b></p>${list(found)}`,
        query
      )
    }
  }
}

const { escape } = PageFrame

const slug = (name: string) => name.toLowerCase().replaceAll(" ", "-")

/** The statuses of the document's named answers. */
const statusOf: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(Answers.errors).map(([status, { name }]) => [name, status])
)
