import { Busboy } from "@fastify/busboy"
import { Effect } from "effect"
import type { FormatRequest } from "../../../src/delivery/formats/WebhookFormat.ts"

export interface FormFile {
  readonly field: string
  readonly filename: string
  readonly contentType: string
  readonly content: Buffer
}

/** A form as an independent parser reads it. */
export interface Form {
  /** Fields in order. */
  readonly fields: ReadonlyArray<readonly [name: string, value: string]>
  readonly files: ReadonlyArray<FormFile>
  /** The first value of a field. */
  value(name: string): string | undefined
}

const limits = { fieldSize: 64 * 1024 * 1024, fields: 10_000, files: 10_000, parts: 10_000 }

/** Reads a request body, multipart or urlencoded, with the parser of Fastify. */
export const read = ({ body, headers }: FormatRequest): Effect.Effect<Form> =>
  Effect.callback((resume) => {
    const fields: Array<readonly [string, string]> = []
    const files: Array<FormFile> = []
    const parser = new Busboy({ headers: { "content-type": headers["Content-Type"] ?? "" }, limits })
    parser.on("field", (name, value) => fields.push([name, value]))
    parser.on("file", (field, stream, filename, _, contentType) => {
      const chunks: Array<Buffer> = []
      stream.on("data", (chunk: Buffer) => chunks.push(chunk))
      stream.on("end", () => files.push({ field, filename, contentType, content: Buffer.concat(chunks) }))
    })
    parser.on("error", (error) => resume(Effect.die(error)))
    parser.on("finish", () =>
      resume(Effect.succeed({ fields, files, value: (wanted) => fields.find(([name]) => name === wanted)?.[1] }))
    )
    parser.end(Buffer.from(body))
  })
