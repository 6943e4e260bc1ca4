import * as NodeBuffer from "../mime/NodeBuffer.ts"

/** A crafted header takes half a millisecond per KiB, too long for a larger one in the thread of the service. */
const quickBytes = 16 * 1024

/** Whether the header is short. Its end is an empty line. */
export const isShort = (message: Uint8Array): boolean => {
  const start = NodeBuffer.view(message.subarray(0, quickBytes))
  return start.includes("\r\n\r\n") || start.includes("\n\n")
}
