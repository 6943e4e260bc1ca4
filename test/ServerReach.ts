import { existsSync, readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

// The one way to the server of a run is the variable that names it.
const variable = "TEST_DATABASE_URL"

/** Whatever another file of the project is named by: an import, of types too, or a URL. */
const reference = /["'](\.{1,2}\/[^"'\n]+\.ts)["']/g

/** Whether a file, or one that it names, speaks of the server that `TEST_DATABASE_URL` names. */
const reaches = (file: URL, seen: Set<string>): boolean => {
  if (seen.has(file.href)) return false
  seen.add(file.href)
  // What can't be looked at might.
  if (!existsSync(file)) return true
  const source = readFileSync(file, "utf8")
  return (
    source.includes(variable) ||
    [...source.matchAll(reference)].some(([, path = ""]) => reaches(new URL(path, file), seen))
  )
}

/** What speaks to the service by its API alone, whose own tests run on a server. */
const byApiAlone =
  /^test\/(?:browser|cli|client)\/|^test\/flows\/tour\.|^test\/http\/GeneratedClients|^test\/mcp\/(?!Mcp\.)/

/** The test files that no server can make a difference to, as paths in the project. */
export const beyondServer = (root: URL): ReadonlyArray<string> =>
  readdirSync(new URL("test/", root), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".test.ts"))
    .map((file) => `test/${file}`)
    .filter((file) => !file.endsWith(".postgres.test.ts"))
    .filter((file) => byApiAlone.test(file) || !reaches(new URL(file, root), new Set()))
    .map((file) => fileURLToPath(new URL(file, root)).slice(fileURLToPath(root).length))
