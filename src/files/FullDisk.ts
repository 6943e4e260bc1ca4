import { Predicate } from "effect"

/** SQLSTATE for a full disk. */
const sqlState = "53100"

/** True if the error, or a cause of it, says that a disk has no bytes or no inodes left. */
export const isCause = (error: unknown): boolean =>
  (Predicate.hasProperty(error, "code") && error.code === sqlState) ||
  (error instanceof Error && (/ENOSPC|No space left on device/.test(error.message) || isCause(error.cause)))

/** The next step, because a disk without inodes shows free bytes. */
export const remedy = "Make room on its disk, or free inodes (df -i)"
