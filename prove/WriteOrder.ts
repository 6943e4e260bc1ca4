import { headBytes } from "../src/providers/storage/SegmentRecord.ts"
import { bytesOf, descriptorOf, type SystemCall, stringsOf } from "./SystemCalls.ts"

/** A mail that was answered `250`, and when the answer was being sent. */
export interface Answered {
  readonly marker: string
  readonly at: number
}

/** When a raw message with this id was durable. */
interface Safe {
  readonly id: Buffer
  readonly at: number
}

interface Written extends SystemCall {
  readonly of: string
  readonly bytes: Buffer
}

const isWrite = ({ name }: SystemCall) => /^p?write/.test(name)
const isSync = ({ name }: SystemCall) => name === "fsync" || name === "fdatasync"

/**
 * Returns the mails that were answered before they were durable. The record must show in this order: the write of the
 * message and its sync, or the upload and the bucket's answer. Then the WAL write with the row, and its sync. Then
 * the `250`.
 */
export const broken = (calls: ReadonlyArray<SystemCall>, mails: ReadonlyArray<Answered>): ReadonlyArray<string> => {
  const written = calls.filter(isWrite).flatMap((call): ReadonlyArray<Written> => {
    const { of } = descriptorOf(call.args)
    if (of === null || !/\.seg$|\/pg_wal\/|^TCP/.test(of)) return []
    return [{ ...call, of, bytes: Buffer.concat(stringsOf(call.args)) }]
  })
  const syncs = calls.filter(isSync).map((call) => ({ ...call, of: descriptorOf(call.args).of ?? "" }))
  const log = written.filter(({ of }) => of.includes("/pg_wal/"))
  const logSyncs = syncs.filter(({ of }) => of.includes("/pg_wal/"))

  const inSegment = (marker: string): Safe | undefined => {
    for (const { bytes, ended, of } of written) {
      if (!of.endsWith(".seg")) continue
      const id = idOfRecord(bytes, marker)
      const sync = syncs.find((sync) => sync.of === of && sync.begun >= ended)
      if (id !== undefined && sync !== undefined) return { id, at: sync.ended }
    }
    return undefined
  }

  const inBucket = (marker: string): Safe | undefined => {
    const body = written.find(({ bytes, of }) => of.startsWith("TCP") && bytes.includes(`Subject: ${marker}\r\n`))
    const head = written.findLast(
      ({ begun, bytes, of }) => of === body?.of && begun <= body.begun && bytes.toString("latin1").startsWith("PUT ")
    )
    const [, uuid] = /^PUT \S*\/inbound\/[0-9a-f-]+\/([0-9a-f-]{36})/.exec(head?.bytes.toString("latin1") ?? "") ?? []
    if (body === undefined || uuid === undefined) return undefined
    const answer = calls.find(
      ({ args, begun, name }) =>
        name === "read" &&
        begun >= body.ended &&
        descriptorOf(args).of === body.of &&
        stringsOf(args).some((said) => said.toString("latin1").startsWith("HTTP/1.1 200 "))
    )
    return answer === undefined ? undefined : { id: bytesOf(uuid.replaceAll("-", "")), at: answer.ended }
  }

  return mails.flatMap(({ at, marker }) => {
    const safe = inSegment(marker) ?? inBucket(marker)
    if (safe === undefined) return [`${marker}: no sync of its bytes`]
    const row = log.find(({ begun, bytes }) => begun >= safe.at && bytes.includes(safe.id))
    if (row === undefined) return [`${marker}: its row is in no write of the log behind that`]
    const sync = logSyncs.find(({ begun, of }) => of === row.of && begun >= row.ended)
    if (sync === undefined) return [`${marker}: no sync of the log behind its row`]
    return sync.ended <= at ? [] : [`${marker}: answered before the sync of the log had ended`]
  })
}

/** The id of the log record with this mail, in a write of complete records. */
const idOfRecord = (bytes: Buffer, marker: string) => {
  for (let at = 0; at + headBytes <= bytes.length; ) {
    const end = at + headBytes + bytes.readUInt32LE(at + 8)
    if (bytes.subarray(at, end).includes(`Subject: ${marker}\r\n`)) return bytes.subarray(at + 16, at + 32)
    at = end
  }
  return undefined
}
