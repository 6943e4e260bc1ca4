import { BoundedMap } from "../cache/BoundedMap.ts"
import type { WebhookId } from "../model/Webhook.ts"
import type { WorkspaceId } from "../model/Workspace.ts"
import * as Pace from "./Pace.ts"

/** Number of idle webhooks whose pace is remembered. The least recently used is evicted first. */
const mostRemembered = 10_000

/** The deliveries of a webhook in this process. */
export interface Line<Delivery> {
  readonly webhookId: WebhookId
  readonly pace: Pace.Pace
  /** Known from the first delivery on. */
  workspaceId: WorkspaceId | undefined
  /** Total: reserved slots, waiting deliveries, open requests and unstored outcomes. */
  size: number
  running: number
  /** Answered requests whose outcome is being stored. */
  settling: number
  /** Leased deliveries waiting for their request. */
  readonly held: Array<Delivery>
  isInTurn: boolean
}

/** The lines of all webhooks, with their totals. */
export const make = <Delivery>() => {
  /** Lines with deliveries. */
  const lines = new Map<WebhookId, Line<Delivery>>()
  /** Empty lines with a remembered pace. */
  const remembered = new BoundedMap<WebhookId, Line<Delivery>>(mostRemembered)
  const taken: Record<Pace.Standing, number> = { new: 0, hung: 0, slow: 0, quick: 0 }
  let total = 0

  const remember = (line: Line<Delivery>) => {
    if (line.pace.standing !== "new") remembered.set(line.webhookId, line)
  }

  return {
    /** Total of the lines with this standing. */
    taken,
    /** Total of all lines. */
    total: () => total,
    /** Lines with deliveries. */
    all: () => lines.values(),

    lineOf: (webhookId: WebhookId): Line<Delivery> =>
      lines.get(webhookId) ??
      remembered.get(webhookId) ?? {
        webhookId,
        pace: Pace.initial(),
        workspaceId: undefined,
        size: 0,
        running: 0,
        settling: 0,
        held: [],
        isInTurn: false
      },

    /** Changes the count of a line. */
    grow: (line: Line<Delivery>, by: number) => {
      const before = line.size
      line.size += by
      taken[line.pace.standing] += by
      total += by
      if (before === 0 && line.size > 0) {
        remembered.delete(line.webhookId)
        lines.set(line.webhookId, line)
      } else if (line.size === 0) {
        lines.delete(line.webhookId)
        remember(line)
      }
    }
  }
}
