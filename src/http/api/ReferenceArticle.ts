import * as PageFrame from "../pages/PageFrame.ts"
import type { Operation } from "./OpenApiDocument.ts"
import { type Shape, typeOf } from "./SchemaWords.ts"

const { escape } = PageFrame

/** Text of the contract as HTML. Text between backticks becomes code. */
export const prose = (text: string): string => escape(text).replace(/`([^`]+)`/g, "<code>$1</code>")

export const verb = (method: string): string => `<span class="verb">${method}</span>`

/** A path with line breaks allowed only after each slash. */
export const path = (text: string): string => escape(text).replaceAll("/", "/<wbr>")

export const table = (header: ReadonlyArray<string>, rows: ReadonlyArray<string>): string =>
  `<div class="table" tabindex="0"><table><thead><tr>${header
    .map((cell) => `<th scope="col">${cell}</th>`)
    .join("")}</tr></thead><tbody>${rows.join("")}</tbody></table></div>`

/** Renders the fields of a schema as a table. */
export const fields = (shape: Shape): string => {
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

/** Renders a schema: what is said of it, and its fields. */
export const described = (shape: Shape): string =>
  `${shape.description === undefined ? "" : `<p>${prose(shape.description)}</p>`}${fields(shape)}`

/** One line about a schema: the first sentence of its description, or its first fields. */
export const summary = (shape: Shape): string => {
  if (shape.description !== undefined) return shape.description.split(/(?<=\.)\s/, 1).join("")
  if (shape.properties === undefined) return typeOf(shape, { link: (name) => name, code: (text) => text })
  const names = Object.keys(shape.properties)
  return [...names.slice(0, 8), ...(names.length > 8 ? ["…"] : [])].join(", ")
}

/** Renders a route of the API, with a curl command for the instance at `url`. */
export const route = (method: string, template: string, operation: Operation, url: string): string =>
  article(method, template, operation, {
    call: curl(method, template, operation, url),
    isOpen: operation.security.length === 0
  })

/** Renders the request to a customer's webhook, with an example body. */
export const webhook = (operation: Operation): string => {
  const [body] = Object.values(operation.requestBody?.content ?? {})
  return article("POST", "your webhook", operation, { call: example(body?.example), isOpen: false })
}

/** The path of the page that shows a schema. */
export const schemaPath = (name: string): `/docs/schemas/${string}` => `/docs/schemas/${name}`

const type = (shape: Shape) =>
  typeOf(shape, {
    link: (name) => `<a href="${schemaPath(name)}">${name}</a>`,
    code: (text) => `<code>${escape(text)}</code>`
  })

const row = (name: string, shape: Shape, meaning: string) =>
  `<tr><td><code>${escape(name)}</code></td><td>${type(shape)}</td><td>${prose(meaning)}</td></tr>`

const article = (
  method: string,
  template: string,
  { description, operationId, parameters, requestBody, responses, summary }: Operation,
  { call, isOpen }: { readonly call: string; readonly isOpen: boolean }
): string => {
  const [bodyType, body] = Object.entries(requestBody?.content ?? {})[0] ?? []
  const answers = Object.entries(responses).filter(([, { $ref }]) => $ref === undefined)
  const errors = Object.entries(responses).filter(([, { $ref }]) => $ref !== undefined)
  return `<article id="${operationId}">
<h2>${verb(method)} <code>${path(template)}</code></h2>
<p><b>${prose(summary)}.</b> ${prose(description ?? "")}</p>
${isOpen ? "<p>This route needs no key.</p>" : ""}
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
${body === undefined ? "" : `<h3>Body</h3>${bodyType === "application/json" ? fields(body.schema as Shape) : `<p>${escape(bodyType ?? "")}</p>`}`}
${call}
${answers
  .map(([status, answer]) => {
    const [media, content] = Object.entries(answer.content ?? {})[0] ?? []
    const isJson = media === "application/json"
    return `<h3><code>${status}</code> ${prose(answer.description ?? "")}</h3>${
      content === undefined
        ? ""
        : isJson
          ? fields(content.schema as Shape)
          : `<p><code>${escape(media ?? "")}</code></p>`
    }${example(content?.example)}`
  })
  .join("")}
${errors.length === 0 ? "" : `<p class="refused">Errors: ${errors.map(([status]) => `<code>${status}</code>`).join(", ")}</p>`}
</article>`
}

const example = (value: unknown) =>
  value === undefined
    ? ""
    : `<details><summary>Example</summary><div class="code"><pre tabindex="0"><code>${escape(JSON.stringify(value, null, 2))}</code></pre></div></details>`

const curl = (method: string, template: string, { requestBody, security }: Operation, url: string) => {
  const body = Object.values(requestBody?.content ?? {})[0]?.example
  const [scheme] = Object.keys(security[0] ?? {})
  const key =
    scheme === "demo"
      ? `-b "inlet_demo=$COOKIE"`
      : `-H "Authorization: Bearer $${scheme === "admin" ? "ADMIN_TOKEN" : "API_KEY"}"`
  const lines = [
    `curl -s${method === "GET" ? "" : ` -X ${method}`} ${url}${template.replace(/\{(\w+)\}/g, (_, name: string) => `$${name.replace(/[A-Z]/g, "_$&").toUpperCase()}`)}`,
    ...(scheme === undefined ? [] : [key]),
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d '${JSON.stringify(body)}'`])
  ]
  return `<div class="code"><pre tabindex="0"><code>${escape(lines.join(" \\\n  "))}</code></pre></div>`
}
