import { Resolver } from "node:dns/promises"
import { once } from "node:events"
import { apart } from "../content/Apart.ts"

/** Asks for the records of a name. */
export type Ask = (name: string, type: string) => Promise<unknown>

/** An answer of DNS, there or on its way. */
interface Answer {
  readonly promise: Promise<unknown>
  until: number
  isThere: boolean
}

/** Bounds of all DNS for one message. */
const dnsMilliseconds = 5_000
const mostQuestions = 100

/** Node does not tell how long an answer may be kept, so none is kept for long. */
const answersKeptMilliseconds = 60_000
const failuresKeptMilliseconds = 30_000
const mostKept = 10_000

/** DNS for the checks of senders: gives the questions of one message, bounded in time and number. */
export const make = (nameServers: ReadonlyArray<string> | undefined): (() => Ask) => {
  const resolver = new Resolver({ timeout: 1_000, tries: 2 })
  if (nameServers !== undefined) resolver.setServers(nameServers)
  const kept = new Map<string, Answer>()

  const ask = (name: string, type: string): Answer => {
    const key = `${type} ${name.toLowerCase()}`
    const known = kept.get(key)
    if (known !== undefined && known.until > performance.now()) return known
    const asked: Answer = {
      // A failure has the name, which is a piece of a header.
      promise: resolver.resolve(apart(name), type),
      until: performance.now() + answersKeptMilliseconds,
      isThere: false
    }
    kept.delete(key)
    kept.set(key, asked)
    asked.promise.then(
      () => {
        asked.isThere = true
      },
      () => {
        asked.isThere = true
        asked.until = performance.now() + failuresKeptMilliseconds
      }
    )
    // The oldest goes: a Map remembers the order of its entries.
    for (const oldest of kept.keys()) {
      if (kept.size <= mostKept) break
      kept.delete(oldest)
    }
    return asked
  }

  return () => {
    // Made when an answer has to be waited for: most are there.
    let expired: Promise<never> | undefined
    const deadline = () => {
      const over = once(AbortSignal.timeout(dnsMilliseconds), "abort")
      expired = over.then(() => Promise.reject(dnsError("ETIMEOUT", "no answer in time")))
      // When the time is up, all answers may be there.
      expired.catch(() => undefined)
      return expired
    }
    let questions = 0
    return (name, type) => {
      if (++questions > mostQuestions) {
        return Promise.reject(dnsError("ESERVFAIL", "too many questions for one message"))
      }
      const { isThere, promise } = ask(name, type)
      return isThere ? promise : Promise.race([promise, expired ?? deadline()])
    }
  }
}

const dnsError = (code: string, message: string) => Object.assign(new Error(message), { code })
