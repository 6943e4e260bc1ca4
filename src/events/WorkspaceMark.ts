import { createHash } from "node:crypto"
import { DomainId } from "../model/Domain.ts"
import type { WorkspaceId } from "../model/Workspace.ts"

/** A place in the list over all domains of a workspace: by time, then domain, then position, newest first. */
export interface WorkspaceMark {
  /** `read_at` in microseconds since 1970. */
  readonly time: bigint
  readonly domainId: DomainId
  readonly position: bigint
}

const placeBytes = 32
const checkBytes = 6

/** Encodes a place as text for clients. It stays valid after the event or its domain is removed. */
export const encode = (workspaceId: WorkspaceId, { domainId, position, time }: WorkspaceMark): string => {
  const place = Buffer.alloc(placeBytes)
  place.writeBigInt64BE(time)
  place.write(domainId.replaceAll("-", ""), 8, "hex")
  place.writeBigUInt64BE(position, 24)
  return Buffer.concat([place, checkOf(workspaceId, place)]).toString("base64url")
}

/** The form of every mark, whatever its workspace. */
export const form = /^[\w-]{51}$/

export const decode = (workspaceId: WorkspaceId, text: string): WorkspaceMark | undefined => {
  if (!form.test(text)) return undefined
  const bytes = Buffer.from(text, "base64url")
  const place = bytes.subarray(0, placeBytes)
  // As Postgres has positions. A larger one would fail there.
  const position = place.readBigInt64BE(24)
  if (position < 0n || !checkOf(workspaceId, place).equals(bytes.subarray(placeBytes))) return undefined
  const hex = place.toString("hex", 8, 24)
  return {
    time: place.readBigInt64BE(),
    domainId: DomainId.make(hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-")),
    position
  }
}

/** Detects marks of other workspaces and typing errors. A forged mark gains nothing. */
const checkOf = (workspaceId: WorkspaceId, place: Uint8Array) =>
  createHash("sha256").update(workspaceId).update(place).digest().subarray(0, checkBytes)
