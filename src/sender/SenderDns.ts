import { Resolver } from "node:dns/promises"
import { apart } from "../cache/Apart.ts"

/** Queries the records of a name. */
export type Ask = (name: string, type: string) => Promise<unknown>

/** A DNS answer, complete or pending. */
interface Answer {
  readonly promise: Promise<unknown>
  until: number
  isThere: boolean
  /** Its approximate size in bytes, 0 while pending. */
  bytes: number
}

/** The time and number of some of a message's DNS queries. */
interface Limits {
  readonly milliseconds: number
  readonly questions: number
}

const usual: Limits = { milliseconds: 5_000, questions: 100 }

/** For the policy of the author's domain, so that records of a stranger cannot use up what its queries need. */
export const forPolicy: Limits = { milliseconds: 3_000, questions: 20 }

/** Node does not expose the TTL, so answers are cached for a short time. */
const answersKeptMilliseconds = 60_000
const failuresKeptMilliseconds = 30_000
const mostKept = 10_000
const mostKeptBytes = 16 * 1024 * 1024
const failureBytes = 512

/** The maximum length of a name, escapes included (RFC 1035, section 2.3.4). */
const longestName = 1_024

/** Limits of cached answers, whose size their owner decides. */
const bytesOf = (records: unknown): number => {
  if (typeof records === "string") return 32 + records.length
  if (typeof records !== "object" || records === null) return 16
  return Object.values(records).reduce((bytes: number, record) => bytes + bytesOf(record), 64)
}

/**
 * DNS for sender checks. Returns a maker of query functions for one message, limited in time and number. `instead`
 * replaces the name servers and the cache.
 */
export const make = (nameServers: ReadonlyArray<string> | undefined, instead?: Ask): ((limits?: Limits) => Ask) => {
  const resolver = new Resolver({ timeout: 1_000, tries: 2 })
  if (nameServers !== undefined) resolver.setServers(nameServers)
  const kept = new Map<string, Answer>()
  let keptBytes = 0

  const drop = (key: string, answer: Answer) => {
    kept.delete(key)
    keptBytes -= answer.bytes
  }

  /** Evicts the oldest entries, in the insertion order of the Map. */
  const makeRoom = () => {
    for (const [key, oldest] of kept) {
      if (kept.size <= mostKept && keptBytes <= mostKeptBytes && oldest.until > performance.now()) break
      drop(key, oldest)
    }
  }

  const ask = (name: string, type: string): Answer => {
    const key = `${type} ${name.toLowerCase()}`
    const known = kept.get(key)
    if (known !== undefined && known.until > performance.now()) return known
    if (known !== undefined) drop(key, known)
    const asked: Answer = {
      // A failure contains the name, which is a slice of a header.
      promise: resolver.resolve(apart(name), type),
      until: performance.now() + answersKeptMilliseconds,
      isThere: false,
      bytes: 0
    }
    const came = (bytes: number) => {
      asked.isThere = true
      if (kept.get(key) !== asked) return
      // The key, a failure and its message contain the name.
      asked.bytes = bytes + 4 * key.length
      keptBytes += asked.bytes
      makeRoom()
    }
    kept.set(key, asked)
    asked.promise.then(
      (records) => came(bytesOf(records)),
      () => {
        asked.until = performance.now() + failuresKeptMilliseconds
        came(failureBytes)
      }
    )
    makeRoom()
    return asked
  }

  return (limits = usual) => {
    let questions = 0
    /** Starts when a query must wait, because most answers are cached. */
    let until: number | undefined
    let timer: NodeJS.Timeout | undefined
    const waiting = new Set<(error: Error) => void>()

    const giveUp = () => {
      for (const refuse of waiting) refuse(dnsError("ETIMEOUT", "no answer in time"))
      waiting.clear()
    }

    /** A race with the deadline would retain each answer until then. */
    const inTime = (answer: Promise<unknown>): Promise<unknown> => {
      const { promise, reject, resolve } = Promise.withResolvers<unknown>()
      until ??= performance.now() + limits.milliseconds
      // A parser thread loads no Effect.
      // @effect-diagnostics-next-line globalTimers:off
      if (waiting.size === 0) timer = setTimeout(giveUp, Math.max(0, until - performance.now()))
      waiting.add(reject)
      const over = () => {
        waiting.delete(reject)
        if (waiting.size === 0) clearTimeout(timer)
      }
      answer.finally(over).then(resolve, reject)
      return promise
    }

    return (name, type) => {
      if (++questions > limits.questions) {
        return Promise.reject(dnsError("ESERVFAIL", "too many questions for one message"))
      }
      if (name.length > longestName) return Promise.reject(dnsError("EBADNAME", "no name is as long"))
      if (instead !== undefined) return inTime(instead(name, type))
      const { isThere, promise } = ask(name, type)
      return isThere ? promise : inTime(promise)
    }
  }
}

/** An error in the form of `node:dns`. */
export const dnsError = (code: string, message: string) => Object.assign(new Error(message), { code })
