import type { DomainId } from "../model/Domain.ts"
import type { WorkspaceId } from "../model/Workspace.ts"
import * as Pace from "./Pace.ts"

/** Domains that have nothing here now and whose pace is known; the one longest out of use is forgotten first. */
const mostRemembered = 10_000

/** What this process has of a domain. */
export interface Line<Delivery> {
  readonly domainId: DomainId
  readonly pace: Pace.Pace
  /** Known once a delivery has come. */
  workspaceId: WorkspaceId | undefined
  /** All there is: places for deliveries to come, deliveries that wait, requests, and outcomes that are being written down. */
  size: number
  running: number
  /** Answered requests whose outcome is being written down. */
  settling: number
  /** Leased deliveries that wait for a request. */
  readonly held: Array<Delivery>
  isInTurn: boolean
}

/** The lines of all domains, and how much they have together. */
export const make = <Delivery>() => {
  /** Lines that have something. */
  const lines = new Map<DomainId, Line<Delivery>>()
  /** Lines that have nothing, and a pace. */
  const remembered = new Map<DomainId, Line<Delivery>>()
  const taken: Record<Pace.Standing, number> = { new: 0, hung: 0, slow: 0, quick: 0 }
  let total = 0

  const remember = (line: Line<Delivery>) => {
    if (line.pace.standing === "new") return
    remembered.set(line.domainId, line)
    if (remembered.size <= mostRemembered) return
    for (const oldest of remembered.keys()) {
      remembered.delete(oldest)
      return
    }
  }

  return {
    /** How much the lines of a standing have. */
    taken,
    /** How much all of them have. */
    total: () => total,
    /** Lines that have something. */
    all: () => lines.values(),

    lineOf: (domainId: DomainId): Line<Delivery> =>
      lines.get(domainId) ??
      remembered.get(domainId) ?? {
        domainId,
        pace: Pace.initial(),
        workspaceId: undefined,
        size: 0,
        running: 0,
        settling: 0,
        held: [],
        isInTurn: false
      },

    /** A line gets more, or less. */
    grow: (line: Line<Delivery>, by: number) => {
      const before = line.size
      line.size += by
      taken[line.pace.standing] += by
      total += by
      if (before === 0 && line.size > 0) {
        remembered.delete(line.domainId)
        lines.set(line.domainId, line)
      } else if (line.size === 0) {
        lines.delete(line.domainId)
        remember(line)
      }
    }
  }
}
