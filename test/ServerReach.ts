import { existsSync, readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

// The suite's server is reachable only through the variable that names it.
const variable = "TEST_DATABASE_URL"

/** Matches references to other project files: imports, type imports and URLs. */
const reference = /["'](\.{1,2}\/[^"'\n]+\.ts)["']/g

/** Whether a file, or one that it refers to, uses the server of `TEST_DATABASE_URL`. */
const reaches = (file: URL, seen: Set<string>): boolean => {
  if (seen.has(file.href)) return false
  seen.add(file.href)
  // A file that cannot be read might use it.
  if (!existsSync(file)) return true
  const source = readFileSync(file, "utf8")
  return (
    source.includes(variable) ||
    [...source.matchAll(reference)].some(([, path = ""]) => reaches(new URL(path, file), seen))
  )
}

/** Modules that use the service only through its API. Tests of the service itself run on a server. */
const byApiAlone =
  /^test\/(?:browser|cli|client)\/|^test\/flows\/tour\.|^test\/http\/GeneratedClients|^test\/mcp\/(?!Mcp\.)/

/** The test files that a PostgreSQL server cannot change, as paths in the project. */
export const beyondServer = (root: URL): ReadonlyArray<string> =>
  readdirSync(new URL("test/", root), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".test.ts"))
    .map((file) => `test/${file}`)
    .filter((file) => !file.endsWith(".postgres.test.ts"))
    .filter((file) => byApiAlone.test(file) || !reaches(new URL(file, root), new Set()))
    .map((file) => fileURLToPath(new URL(file, root)).slice(fileURLToPath(root).length))
