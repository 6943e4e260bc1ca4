import type { Dice } from "./Dice.ts"

/** Fragments that have broken parsers: ends, starts, names, encodings and other bytes. */
const pieces = [
  "\r\n",
  "\n",
  "\r",
  "\r\n\r\n",
  "\0",
  "\t ",
  "--",
  "=?utf-8?B?",
  "=?utf-8?Q?=",
  "?=",
  "=\r\n",
  "=3D=0",
  "%",
  "*0*=",
  "''",
  '"',
  "\\",
  "(((((((",
  "<",
  ">;",
  ",,,,",
  "@",
  ":;",
  "boundary=",
  "Content-Type: multipart/mixed; boundary=b\r\n",
  "Content-Type: message/rfc822\r\n",
  "Content-Type: text/html; charset=utf-16\r\n",
  "Content-Type: text/plain; format=flowed; delsp=yes\r\n",
  "Content-Transfer-Encoding: base64\r\n",
  "Content-Transfer-Encoding: x-uuencode\r\n",
  "Subject: ",
  "DKIM-Signature: v=1; a=rsa-sha256; b=; bh=; d=a.example; h=from; s=s\r\n",
  "begin 644 a\r\n",
  "<script>",
  "<!--",
  "&#x110000;",
  "\xff\xfe",
  "\xed\xa0\x80",
  "\x1b$B"
].map((text) => Buffer.from(text, "latin1"))

const longest = 256 * 1024

/** The message with up to eight mutations, limited to 256 KiB. */
export const mutate = (dice: Dice, message: Uint8Array, others: ReadonlyArray<Uint8Array>): Buffer<ArrayBuffer> => {
  let bytes = Buffer.from(message.subarray(0, longest))
  for (let changes = dice.roll(8) + 1; changes > 0; changes--) bytes = change(dice, bytes, others)
  return Buffer.from(bytes.subarray(0, longest))
}

const change = (dice: Dice, bytes: Buffer<ArrayBuffer>, others: ReadonlyArray<Uint8Array>): Buffer<ArrayBuffer> => {
  const at = dice.roll(bytes.length + 1)
  const to = Math.min(bytes.length, at + dice.roll(dice.chance(20) ? 4_096 : 40))
  const before = bytes.subarray(0, at)
  const between = bytes.subarray(at, to)
  const behind = bytes.subarray(to)
  switch (dice.roll(7)) {
    case 0:
      return Buffer.concat([before, behind])
    case 1:
      return Buffer.concat([before, dice.oneOf(pieces), bytes.subarray(at)])
    case 2:
      // A run of one fragment, which reveals quadratic costs.
      return Buffer.concat([before, Buffer.alloc(1 + dice.roll(65_536), dice.oneOf(pieces)), behind])
    case 3:
      return Buffer.concat([before, between.map((byte) => byte ^ (1 << dice.roll(8))), behind])
    case 4:
      return Buffer.concat([before, between, between, behind])
    case 5: {
      const other = dice.oneOf(others)
      return Buffer.concat([before, other.subarray(dice.roll(other.length + 1)), behind])
    }
    default:
      return Buffer.concat([behind, before])
  }
}
