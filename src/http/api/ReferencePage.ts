import * as PageFrame from "../pages/PageFrame.ts"
import * as Answers from "./OpenApiAnswers.ts"
import type { Document, Operation } from "./OpenApiDocument.ts"
import { type Shape, typeOf } from "./SchemaWords.ts"

/** The reference at `/docs`: all of the document on one page, without a script and without anything from elsewhere. */
export const render = (document: Document, url: string): string => {
  const { components, info, paths, tags } = document
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation }))
  )
  const groups = tags.map((tag) => ({
    ...tag,
    all: operations.filter(({ operation }) => operation.tags[0] === tag.name)
  }))
  const webhook = document.webhooks["inbound.email.received"]?.post
  const schemas = Object.entries(components.schemas).filter(([name]) => name !== "Error")

  const index = [
    ...groups.map(
      ({ all, name }) =>
        `<li class="group"><a href="#${slug(name)}">${escape(name)}</a><ul>${all
          .map(
            ({ method, operation, path }) =>
              `<li><a href="#${operation.operationId}">${verb(method)} ${escape(path)}</a></li>`
          )
          .join("")}</ul></li>`
    ),
    `<li class="group"><a href="#webhook">Webhook</a></li>`,
    `<li class="group"><a href="#schemas">Schemas</a><ul>${schemas.map(([name]) => `<li><a href="#${name}">${name}</a></li>`).join("")}</ul></li>`
  ].join("")

  const errors = Object.entries(document.components.responses).map(
    ([name, { description }]) =>
      `<tr><td><code>${statusOf[name] ?? ""}</code></td><td>${prose(description ?? "")}</td></tr>`
  )

  return PageFrame.render({
    title: "API reference · Inlet",
    assets: ["inlet.css", "reference.css"],
    body: `<div class="reference">
<details class="index" open><summary>Routes</summary><nav aria-label="Routes"><ul>${index}</ul></nav></details>
<main id="main" tabindex="-1">
<h1>API reference</h1>
<p class="lead">${prose(info.description)}</p>
<p>Version ${escape(info.version)}, at <code>${escape(url)}</code>. Send <code>Authorization: Bearer &lt;api_key&gt;</code> unless a route says that it needs no key. Bodies are JSON in UTF-8, at most 256 KiB. Ids are UUIDs, times are ISO 8601 in UTC.</p>
<h3>Errors</h3>
${table(["status", "meaning"], errors)}
${groups
  .map(
    ({ all, description, name }) =>
      `<section id="${slug(name)}"><h2>${escape(name)}</h2><p>${prose(description)}.</p>${all
        .map(({ method, operation, path }) => article(method, path, operation, url))
        .join("")}</section>`
  )
  .join("\n")}
<section id="webhook"><h2>Webhook</h2>${webhook === undefined ? "" : article("POST", "your webhook", webhook, "")}</section>
<section id="schemas"><h2>Schemas</h2>${schemas
      .map(([name, schema]) => `<article id="${name}"><h3>${name}</h3>${fields(schema as Shape)}</article>`)
      .join("")}</section>
</main>
</div>`
  })
}

const { escape } = PageFrame

/** Words of the contract, with what stands between backticks as code. */
const prose = (text: string) => escape(text).replace(/`([^`]+)`/g, "<code>$1</code>")

const slug = (name: string) => name.toLowerCase().replaceAll(" ", "-")

const verb = (method: string) => `<span class="verb">${method}</span>`

const type = (shape: Shape) =>
  typeOf(shape, {
    link: (name) => `<a href="#${name}">${name}</a>`,
    code: (text) => `<code>${escape(text)}</code>`
  })

const table = (header: ReadonlyArray<string>, rows: ReadonlyArray<string>) =>
  `<div class="table"><table><thead><tr>${header.map((cell) => `<th>${cell}</th>`).join("")}</tr></thead><tbody>${rows.join("")}</tbody></table></div>`

const row = (name: string, shape: Shape, meaning: string) =>
  `<tr><td><code>${escape(name)}</code></td><td>${type(shape)}</td><td>${prose(meaning)}</td></tr>`

const fields = (shape: Shape): string => {
  if (shape.properties === undefined) return `<p>${type(shape)}</p>`
  const required = shape.required ?? []
  const rows = Object.entries(shape.properties).map(([name, field]) =>
    row(
      name,
      field,
      [...(required.includes(name) ? [] : ["optional"]), ...(field.description ?? "").split("\n", 1)]
        .filter((part) => part !== "")
        .join("; ")
    )
  )
  return table(["field", "type", "meaning"], rows)
}

/** The statuses behind the named answers of the document. */
const statusOf: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(Answers.errors).map(([status, { name }]) => [name, status])
)

const article = (method: string, path: string, operation: Operation, url: string): string => {
  const { description, operationId, parameters, requestBody, responses, security, summary } = operation
  const [bodyType, body] = Object.entries(requestBody?.content ?? {})[0] ?? []
  const told = Object.entries(responses).filter(([, { $ref }]) => $ref === undefined)
  const refused = Object.entries(responses).filter(([, { $ref }]) => $ref !== undefined)
  return `<article id="${operationId}">
<h3>${verb(method)} <code>${escape(path)}</code></h3>
<p><b>${prose(summary)}.</b> ${prose(description ?? "")}</p>
${security.length === 0 && url !== "" ? "<p>No key is needed.</p>" : ""}
${
  parameters.length === 0
    ? ""
    : table(
        ["parameter", "type", "meaning"],
        parameters.map(({ description = "", in: where, name, schema }) =>
          row(
            name,
            schema as Shape,
            [where === "query" ? "" : `in the ${where}`, description].filter((part) => part !== "").join("; ")
          )
        )
      )
}
${body === undefined ? "" : `<h4>Body</h4>${bodyType === "application/json" ? fields(body.schema as Shape) : `<p>${escape(bodyType ?? "")}</p>`}`}
${url === "" ? example(body?.example) : curl(method, path, operation, url)}
${told
  .map(([status, answer]) => {
    const [media, content] = Object.entries(answer.content ?? {})[0] ?? []
    const isJson = media === "application/json"
    return `<h4><code>${status}</code> ${prose(answer.description ?? "")}</h4>${
      content === undefined
        ? ""
        : isJson
          ? fields(content.schema as Shape)
          : `<p><code>${escape(media ?? "")}</code></p>`
    }${example(content?.example)}`
  })
  .join("")}
${refused.length === 0 ? "" : `<p class="refused">Errors: ${refused.map(([status]) => `<code>${status}</code>`).join(", ")}</p>`}
</article>`
}

const example = (value: unknown) =>
  value === undefined
    ? ""
    : `<details><summary>Example</summary><div class="code"><pre tabindex="0"><code>${escape(JSON.stringify(value, null, 2))}</code></pre></div></details>`

/** A line for a terminal. */
const curl = (method: string, path: string, { requestBody, security }: Operation, url: string) => {
  const body = Object.values(requestBody?.content ?? {})[0]?.example
  const [scheme] = Object.keys(security[0] ?? {})
  const key =
    scheme === "demo"
      ? `-b "inlet_demo=$COOKIE"`
      : `-H "Authorization: Bearer $${scheme === "admin" ? "ADMIN_TOKEN" : "API_KEY"}"`
  const lines = [
    `curl -s${method === "GET" ? "" : ` -X ${method}`} ${url}${path.replace(/\{(\w+)\}/g, (_, name: string) => `$${name.replace(/[A-Z]/g, "_$&").toUpperCase()}`)}`,
    ...(scheme === undefined ? [] : [key]),
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d '${JSON.stringify(body)}'`])
  ]
  return `<div class="code"><pre tabindex="0"><code>${escape(lines.join(" \\\n  "))}</code></pre></div>`
}
