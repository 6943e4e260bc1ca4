/** The same bytes, not a copy, with the methods of Node's Buffer. */
export const view = ({ buffer, byteLength, byteOffset }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength)
