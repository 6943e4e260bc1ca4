import { Effect, FileSystem, Path } from "effect"

/** The findings, each with the input that reproduces it. */
export interface Found {
  readonly add: (kind: string, fault: string, input: Uint8Array | string) => Effect.Effect<void>
  readonly faults: ReadonlyArray<string>
}

/** Writes each input into a folder, as material for a test. */
export const make = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const faults: Array<string> = []
  const add: Found["add"] = Effect.fnUntraced(function* (kind, fault, input) {
    const file = path.join(folder, `${kind}-${faults.length + 1}`)
    faults.push(`${fault} (${file})`)
    yield* fs.makeDirectory(folder, { recursive: true })
    yield* typeof input === "string" ? fs.writeFileString(file, input) : fs.writeFile(file, input)
  }, Effect.orDie)
  const found: Found = { add, faults }
  return found
})
