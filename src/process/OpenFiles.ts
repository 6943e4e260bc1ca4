import { Effect, FileSystem } from "effect"

/**
 * Limits connections of a kind to this share of the files that the process may still open, so that accepted ones can
 * be served. Zero is no limit.
 */
export const roomFor = Effect.fnUntraced(function* (setting: string, wanted: number, share: "half" | "quarter") {
  const fs = yield* FileSystem.FileSystem
  // Only Linux has these files.
  const limits = yield* Effect.orElseSucceed(fs.readFileString("/proc/self/limits"), () => "")
  const opened = yield* Effect.orElseSucceed(fs.readDirectory("/proc/self/fd"), (): Array<string> => [])
  const files = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY) - opened.length
  const most = Math.max(1, Math.floor(files * (share === "half" ? 0.5 : 0.25)))
  if (wanted <= most) return wanted
  yield* Effect.logWarning(
    `${setting}: ${wanted} is more than ${share === "half" ? "half" : "a quarter"} of the ${files} files that this process may still open. The limit is ${most} now`
  )
  return most
})
