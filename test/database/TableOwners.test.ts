import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"

const src = fileURLToPath(new URL("../../src", import.meta.url))

/** The folder that alone writes a table. */
const owners = {
  deliveries: "delivery",
  domains: "domains",
  webhooks: "webhooks",
  refusals: "refusals",
  domain_day_refusals: "refusals",
  unknown_refusals: "refusals"
}

const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"))

/** The files with a statement that writes a table. */
const writersOf = (table: string) => {
  const write = new RegExp(
    `\\b(?:INSERT INTO|UPDATE|DELETE FROM|MERGE INTO|TRUNCATE|COPY)\\s+(?:ONLY\\s+)?"?${table}\\b`,
    "i"
  )
  return files.filter((file) => write.test(readFileSync(join(src, file), "utf8")))
}

describe("A table", () => {
  it.each(Object.entries(owners))("%s is written in src/%s only", (table, owner) => {
    const writers = writersOf(table)
    assert.isNotEmpty(writers)
    assert.deepStrictEqual(
      writers.filter((file) => !file.startsWith(`${owner}/`)),
      []
    )
  })
})
