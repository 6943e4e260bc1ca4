/** Chunks are many when a sender cuts its message into packets of a few bytes, each with the cost of an object. */
const loose = 1_024

/** Collects a message while it comes, in about the memory of its bytes however small the pieces are. */
export const make = () => {
  let chunks: Array<Uint8Array> = []
  let tail: Array<Uint8Array> = []
  const clear = () => {
    chunks = []
    tail = []
  }
  return {
    push: (chunk: Uint8Array) => {
      if (tail.push(chunk) < loose) return
      chunks.push(Buffer.concat(tail))
      tail = []
    },
    clear,
    all: (): Uint8Array => Buffer.concat([...chunks, ...tail])
  }
}
