import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"

interface Locked {
  readonly version?: string
  readonly resolved?: string
  readonly integrity?: string
  readonly license?: string
  readonly hasInstallScript?: boolean
  readonly dev?: boolean
  readonly optional?: boolean
  readonly link?: boolean
}

const read = <A>(file: string): A => JSON.parse(readFileSync(file, "utf8"))

const lock = read<{ readonly lockfileVersion: number; readonly packages: Record<string, Locked> }>("package-lock.json")
const manifest = read<Record<"dependencies" | "devDependencies", Record<string, string>>>("package.json")

/** Every installed package except this one. */
const packages = Object.entries(lock.packages).filter(([path]) => path !== "")

const named = (wanted: (entry: Locked) => boolean) =>
  packages.flatMap(([path, entry]) => (wanted(entry) ? [path.replace(/^.*node_modules\//, "")] : []))

/** Licenses that permit use, modification and distribution. */
const permissive =
  /^\(?(MIT|MIT-0|ISC|0BSD|BSD-[23]-Clause|CC0-1\.0|Apache-2\.0|Unlicense|MPL-2\.0|PSF-2\.0|BlueOak-1\.0\.0)\b/

describe("The dependencies", () => {
  it("are locked to one version each, and direct ones to the version in package.json", () => {
    assert.strictEqual(lock.lockfileVersion, 3)
    assert.deepStrictEqual(
      named(({ version }) => version === undefined),
      []
    )
    for (const [name, version] of Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })) {
      assert.match(version, /^\d+\.\d+\.\d+$/, name)
      assert.strictEqual(lock.packages[`node_modules/${name}`]?.version, version, name)
    }
  })

  it("come from a registry and have a strong hash in the lock file", () => {
    // The lock file has no hash for packages that another platform needs.
    assert.deepStrictEqual(
      named(({ integrity, optional }) => integrity === undefined && optional !== true),
      []
    )
    assert.deepStrictEqual(
      named(({ integrity }) => integrity !== undefined && !integrity.startsWith("sha512-")),
      []
    )
    assert.deepStrictEqual(
      named(({ link, resolved }) => link === true || (resolved !== undefined && !/^https:\/\//.test(resolved))),
      []
    )
  })

  it("run no install scripts, except Node, esbuild and workerd for development", () => {
    assert.deepStrictEqual(
      named(({ hasInstallScript }) => hasInstallScript === true),
      ["esbuild", "node", "workerd"]
    )
    for (const name of ["esbuild", "node", "workerd"]) assert.isTrue(lock.packages[`node_modules/${name}`]?.dev, name)
  })

  it("have permissive licenses, except the image library that miniflare installs for development", () => {
    const others = packages.filter(([, { license = "none" }]) => !permissive.test(license))
    assert.deepStrictEqual(
      others.filter(
        ([path, { dev, license }]) =>
          !(dev === true && /\/@img\/sharp-/.test(path) && /\bLGPL-3\.0-or-later\b/.test(license ?? ""))
      ),
      []
    )
  })
})
