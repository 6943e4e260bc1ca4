import { Effect, FileSystem, Option } from "effect"

// Figures from procfs, see proc(5).

const ticksPerSecond = 100

interface Process {
  readonly pid: number
  readonly name: string
  readonly parent: number
  /** Of all threads of the process and its ended children. */
  readonly ticks: number
}

const all = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const pids = (yield* fs.readDirectory("/proc")).filter((name) => /^\d+$/.test(name))
  return yield* Effect.forEach(pids, (pid) =>
    fs.readFileString(`/proc/${pid}/stat`).pipe(
      Effect.map((stat): Process => {
        // The program name is in parentheses and may contain any character.
        const end = stat.lastIndexOf(")")
        const fields = stat
          .slice(end + 2)
          .split(" ")
          .map(Number)
        return {
          pid: Number(pid),
          name: stat.slice(stat.indexOf("(") + 1, end),
          parent: fields[1] ?? 0,
          ticks: fields.slice(11, 15).reduce((sum, ticks) => sum + ticks, 0)
        }
      }),
      // The process has ended meanwhile.
      Effect.option
    )
  ).pipe(Effect.map((found) => found.flatMap(Option.toArray)))
})

/** These processes and all their descendants. */
const trees = Effect.fnUntraced(function* (roots: ReadonlyArray<number>) {
  const processes = yield* all
  const family = new Set(roots)
  for (let before = 0; before < family.size; ) {
    before = family.size
    for (const { parent, pid } of processes) if (family.has(parent)) family.add(pid)
  }
  return processes.filter(({ pid }) => family.has(pid))
})

/** CPU seconds, user and system, that these processes and their descendants have used. */
export const cpuSeconds = (roots: ReadonlyArray<number>) =>
  Effect.map(trees(roots), (processes) => processes.reduce((sum, { ticks }) => sum + ticks, 0) / ticksPerSecond)

/** Resets the memory peak to the current use. */
export const resetPeak = Effect.fnUntraced(function* (roots: ReadonlyArray<number>) {
  const fs = yield* FileSystem.FileSystem
  yield* Effect.forEach(yield* trees(roots), ({ pid }) => fs.writeFileString(`/proc/${pid}/clear_refs`, "5"))
})

const memory = (field: "VmHWM" | "VmRSS") =>
  Effect.fnUntraced(function* (roots: ReadonlyArray<number>) {
    const fs = yield* FileSystem.FileSystem
    const statuses = yield* Effect.forEach(yield* trees(roots), ({ pid }) => fs.readFileString(`/proc/${pid}/status`))
    const kibibytes = statuses.map((status) => Number(status.split(`${field}:`)[1]?.split("kB")[0] ?? 0))
    return (kibibytes.reduce((sum, some) => sum + some, 0) * 1_024) / 1_000_000
  })

/** The peak memory of processes and their descendants, in MB. */
export const peakMegabytes = memory("VmHWM")

/** The current memory of processes and their descendants, in MB. */
export const residentMegabytes = memory("VmRSS")

/** The open files and sockets of a process. */
export const openDescriptors = Effect.fnUntraced(function* (pid: number) {
  const fs = yield* FileSystem.FileSystem
  return (yield* fs.readDirectory(`/proc/${pid}/fd`)).length
})

/** The ancestor of a process with this name. */
export const parentOf = (pid: number, name: string) =>
  Effect.map(all, (processes) => processes.find((process) => process.pid === pid && process.name === name)?.parent)
