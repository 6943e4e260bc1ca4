import { BoundedMap } from "../cache/BoundedMap.ts"

/**
 * The assumption for a tenant without history, in milliseconds. The slowest known mail takes twice that for each KiB. Most
 * of a large mail is attachments, which cost little.
 */
const usualPerKiB = 0.1
const usualPerKiBOfLarge = 0.02
const largeKiB = 100
const perMail = 0.2

/** Weight of the history after one more mail. */
const memory = 0.9

/** The maximum number of remembered tenants. The least recently used is evicted. */
const mostTenants = 1_000

interface History {
  milliseconds: number
  kibibytes: number
}

/** Estimates the CPU time for parsing a mail from recent mails of its tenant. Times are milliseconds. */
export class ReadingCost {
  readonly #histories = new BoundedMap<string, History>(mostTenants)

  isKnown(tenant: string): boolean {
    return this.#histories.has(tenant)
  }

  estimate(tenant: string, bytes: number): number {
    const history = this.#histories.get(tenant)
    const kibibytes = bytes / 1_024
    if (history !== undefined) return perMail + (history.milliseconds / history.kibibytes) * kibibytes
    const large = Math.max(0, kibibytes - largeKiB)
    return perMail + usualPerKiB * (kibibytes - large) + usualPerKiBOfLarge * large
  }

  record(tenant: string, bytes: number, milliseconds: number): void {
    const { kibibytes, milliseconds: before } = this.#histories.get(tenant) ?? {
      kibibytes: 4,
      milliseconds: 4 * usualPerKiB
    }
    this.#histories.set(tenant, {
      milliseconds: before * memory + milliseconds,
      kibibytes: kibibytes * memory + (bytes + 1) / 1_024
    })
  }
}
