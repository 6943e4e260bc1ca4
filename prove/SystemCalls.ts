import { createReadStream } from "node:fs"
import { createInterface } from "node:readline"
import { Effect } from "effect"
import { eventually } from "../test/Eventually.ts"

/** A completed system call. */
export interface SystemCall {
  readonly name: string
  /** Microseconds since 1970. */
  readonly begun: number
  readonly ended: number
  /** As formatted by strace. */
  readonly args: string
  readonly result: number
  /** What the returned descriptor refers to. */
  readonly opened: string | undefined
}

const names = [
  ...["open", "openat", "creat", "write", "pwrite64", "writev", "pwritev", "pwritev2", "ftruncate", "truncate"],
  ...["fallocate", "rename", "renameat", "renameat2", "unlink", "unlinkat", "link", "linkat", "symlink", "symlinkat"],
  ...["mkdir", "mkdirat", "rmdir", "fsync", "fdatasync", "copy_file_range", "sendfile"]
]

/** The maximum string length in a record. A longer one is an error. */
const mostBytes = 64 * 1024 * 1024

/**
 * A command prefix that records the system calls of a command and its children in a file. The command keeps the pid
 * of the started process, and the recorder is a grandchild.
 */
export const recorder = (file: string, others: ReadonlyArray<string> = []): ReadonlyArray<string> => [
  ...["strace", "-DDD", "-f", "-yy", "-ttt", "-T", "-xx", "-v", "--seccomp-bpf", "-s", `${mostBytes}`],
  ...["-o", file, "-e", `trace=${[...names, ...others].join(",")}`, "--"]
]

const line = /^(\d+) +(\d+)\.(\d{6}) (.*)$/s
const whole = /^(\w+)\((.*)\) += (-?\d+)(?:<(.*?)>)?(?: .*)? <(\d+)\.(\d{6})>$/s

/** A record may exceed the maximum string length. */
const eachLine = (file: string, hear: (text: string) => void) =>
  Effect.callback<void>((resume) => {
    const lines = createInterface({ input: createReadStream(file, "latin1") })
    lines.on("line", hear)
    lines.once("close", () => resume(Effect.void))
    return Effect.sync(() => lines.close())
  })

/** The calls of a record in the order of their completion. A call cut short by a kill is not included. */
export const read = Effect.fnUntraced(function* (file: string) {
  const calls: Array<SystemCall> = []
  const begun = new Map<string, string>()
  yield* eachLine(file, (text) => {
    const [, thread = "", seconds = "", micros = "", rest = ""] = line.exec(text) ?? []
    const unfinished = rest.indexOf(" <unfinished ...>")
    if (unfinished !== -1) return void begun.set(thread, rest.slice(0, unfinished))
    const resumed = /^<\.\.\. \w+ resumed>/.exec(rest)
    const [, name = "", args = "", result = "", opened, tookSeconds = "", tookMicros = ""] =
      whole.exec(resumed === null ? rest : `${begun.get(thread)}${rest.slice(resumed[0].length)}`) ?? []
    if (name === "") return
    const at = Number(`${seconds}${micros}`)
    const took = Number(`${tookSeconds}${tookMicros}`)
    calls.push({
      name,
      args,
      result: Number(result),
      opened: opened === undefined ? undefined : textOf(opened),
      begun: resumed === null ? at : at - took,
      ended: resumed === null ? at + took : at
    })
  })
  const partial = calls.find(({ args }) => args.includes('"...'))
  if (partial !== undefined) {
    return yield* Effect.die(new Error(`The record lacks bytes of a ${partial.name}`))
  }
  return calls
})

/** Waits until the record of an ended process is complete. */
export const complete = (file: string, pid: number) =>
  eventually(
    Effect.suspend(() => {
      let hasEnded = false
      const look = eachLine(file, (text) => {
        hasEnded ||= text.startsWith(`${pid} `) && / \+\+\+ (killed|exited)/.test(text)
      })
      return Effect.map(look, () => hasEnded)
    }),
    (hasEnded) => hasEnded,
    "60 seconds"
  )

/** Decodes escapes of strace such as `\x2f\x74`. */
export const bytesOf = (shown: string) => Buffer.from(shown.replaceAll("\\x", ""), "hex")

const textOf = (shown: string) => (shown.startsWith("\\x") ? bytesOf(shown).toString() : shown)

/** The descriptor of a call and its file or socket. Null for a file without a name. */
export const descriptorOf = (args: string) => {
  const [, number = "", of = "", deleted] = /^(\d+)<(.*?)>(\(deleted\))?(?:,|$)/s.exec(args) ?? []
  return { number, of: deleted === undefined ? textOf(of) : null }
}

/** The string arguments of a call: paths, or the bytes of a write. */
export const stringsOf = (args: string) => [...args.matchAll(/"([^"]*)"/g)].map(([, shown = ""]) => bytesOf(shown))

/** The folder argument of a `*at` call, as a path prefix. */
export const foldersOf = (args: string) =>
  [...args.matchAll(/(?:^|, )(?:AT_FDCWD|\d+)<(.*?)>/g)].map(([, of = ""]) => textOf(of))
