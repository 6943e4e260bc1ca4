import { isIP } from "node:net"
import { apart } from "../cache/Apart.ts"
import { BoundedMap } from "../cache/BoundedMap.ts"
import * as Mailauth from "./Mailauth.ts"
import type { Ask } from "./SenderDns.ts"

/** The client of a message and its identity. */
export interface Client {
  readonly ip: string
  readonly helo: string
  /** The reverse-path, or empty. */
  readonly sender: string
}

/** The SPF result of a client (RFC 7208), with its text in the header field. */
export interface Finding {
  readonly result: string
  readonly domain: string
  readonly info: string
}

/** Evaluates SPF for a client. */
export type Find = (ask: Ask, client: Client) => Promise<Finding>

/** A DNS query. The cache that stores its answer decides how long. */
interface Asked {
  readonly name: string
  readonly type: string
  readonly answer: WeakRef<object>
}

interface Known {
  readonly finding: Finding
  readonly asked: ReadonlyArray<Asked>
}

const mostKept = 1_000

/** Maximum characters of a client's cached queries. Most policies take ten queries. */
const mostLetters = 1_024
const lettersOf = (asked: ReadonlyArray<Asked>) => asked.reduce((letters, { name }) => letters + name.length + 16, 0)

/** The library's time grows with the square of a policy, which fits into one packet (RFC 7208, section 3.4). */
const longestPolicy = 4_096
const mostRecords = 500

/** Refuses an answer that would take long to evaluate. */
const bounded = (found: unknown): unknown => {
  if (!Array.isArray(found)) return found
  const records: ReadonlyArray<unknown> = found
  const isLong = records.some((record) => {
    const text = Array.isArray(record) ? record.join("") : ""
    return text.length > longestPolicy && /^v=spf1/i.test(text)
  })
  return isLong || records.length > mostRecords ? Promise.reject(tooLong()) : found
}

/** In the form in which the library takes a result from an error. */
const tooLong = () => {
  const text = "a record is too long"
  return Object.assign(new Error(text), { spfResult: { error: "permerror", text } })
}

/** The answer or the error, each a separate object. */
const settled = (answer: Promise<unknown>): Promise<unknown> =>
  answer.then(
    (found) => found,
    (error: unknown) => error
  )

/** Sends each query once, because queries are limited. */
const once = (ask: Ask): Ask => {
  const answers = new Map<string, Promise<unknown>>()
  return (name, type) => {
    const key = `${type} ${name}`
    const answer = answers.get(key) ?? ask(name, type)
    answers.set(key, answer)
    return answer
  }
}

/** Checks SPF, and caches a client's result while its DNS answers are cached. */
export const make = (authservId: string): Find => {
  const kept = new BoundedMap<string, Known>(mostKept)

  const evaluate = (ask: Ask, { helo, ip, sender }: Client, key: string): Promise<Finding> => {
    const answers: Array<Promise<readonly [name: string, type: string, answer: unknown]>> = []
    const resolver: Ask = (name, type) => {
      const answer = ask(name, type)
      answers.push(settled(answer).then((found) => [name, type, found]))
      return answer.then(bounded)
    }
    const name = helo || ip
    return Mailauth.spf({
      // Resolvers are typed by record type, which is only known here as text.
      resolver: resolver as never,
      strict: true,
      ip,
      helo: isIP(name) === 0 ? name : `[${name}]`,
      sender,
      mta: authservId
    }).then(({ domain, info, status }) => {
      const finding: Finding = { result: status.result, domain, info }
      return Promise.all(answers).then((all) => {
        const asked = all.flatMap(
          ([name, type, found]): ReadonlyArray<Asked> =>
            typeof found === "object" && found !== null ? [{ name: apart(name), type, answer: new WeakRef(found) }] : []
        )
        if (asked.length === all.length && lettersOf(asked) <= mostLetters) kept.set(key, { finding, asked })
        return finding
      })
    })
  }

  return (asker, client) => {
    const ask = once(asker)
    const key = JSON.stringify([client.ip, client.helo, client.sender])
    const known = kept.get(key)
    if (known === undefined) return evaluate(ask, client, key)
    const again = known.asked.map(({ answer, name, type }) =>
      settled(ask(name, type)).then((found) => found === answer.deref())
    )
    return Promise.all(again).then((are) => (are.every((is) => is) ? known.finding : evaluate(ask, client, key)))
  }
}
