import { hash } from "node:crypto"
import * as NodeBuffer from "../../mime/NodeBuffer.ts"
import type { FormatRequest } from "./WebhookFormat.ts"

/** A field of a form, by name. */
export type Field = readonly [name: string, value: string | Uint8Array]

/** A file of a form. */
export interface File {
  readonly field: string
  readonly filename: string
  readonly contentType: string
  readonly content: Uint8Array
}

/** A request body with its content type. */
export interface Form {
  readonly contentType: string
  readonly body: Uint8Array
}

/** The request that posts a form. */
export const request = ({ body, contentType }: Form): FormatRequest => ({
  headers: { "Content-Type": contentType },
  body
})

/**
 * Writes a `multipart/form-data` body in UTF-8 (RFC 7578). The boundary depends on `id` alone, so that all attempts
 * of a delivery have the same one, unless a value contains it.
 */
export const of = (id: string, fields: ReadonlyArray<Field>, files: ReadonlyArray<File> = []): Form => {
  const values = fields.map(([name, value]) => ({ head: disposition(name), value: Buffer.from(value) }))
  const contents = files.map(({ content, contentType, field, filename }) => ({
    head: `${disposition(field)}; filename="${escaped(filename)}"\r\nContent-Type: ${contentType}`,
    value: NodeBuffer.view(content)
  }))
  const parts = [...values, ...contents]
  let boundary = boundaryOf(id)
  while (parts.some(({ value }) => value.includes(boundary))) boundary = boundaryOf(boundary)
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.concat([
      ...parts.flatMap(({ head, value }) => [
        Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`),
        value,
        Buffer.from("\r\n")
      ]),
      Buffer.from(`--${boundary}--\r\n`)
    ])
  }
}

/** Larger forms are multipart, because frameworks limit urlencoded ones, which grow to three times the text. */
const longestUrlencoded = 256 * 1024

/** Writes an `application/x-www-form-urlencoded` body, or `multipart/form-data` for long texts. */
export const orUrlencoded = (id: string, fields: ReadonlyArray<readonly [name: string, value: string]>): Form => {
  const units = fields.reduce((sum, [, value]) => sum + value.length, 0)
  if (units > longestUrlencoded) return of(id, fields)
  return {
    contentType: "application/x-www-form-urlencoded",
    body: Buffer.from(new URLSearchParams(fields.map(([name, value]): [string, string] => [name, value])).toString())
  }
}

const boundaryOf = (id: string) => `inlet-${hash("sha256", id).slice(0, 32)}`

const disposition = (name: string) => `Content-Disposition: form-data; name="${escaped(name)}"`

/** As browsers do (HTML, section 4.10.21.8), so that a name ends neither its quotes nor its line. */
const escaped = (name: string) => name.replaceAll("\r", "%0D").replaceAll("\n", "%0A").replaceAll('"', "%22")
