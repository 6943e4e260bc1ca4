/** First code points of the decimal digits of scripts that mails are written in. */
const zeros = [
  0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xe50, 0xed0, 0xf20, 0x1040,
  0x17e0, 0x1810, 0xff10
]

export const digitOf = (unit: number): number => {
  if (unit < 0x80) return unit >= 0x30 && unit <= 0x39 ? unit - 0x30 : -1
  if (unit < 0x660 || (unit >= 0x1820 && unit < 0xff10)) return -1
  for (const zero of zeros) if (unit >= zero && unit < zero + 10) return unit - zero
  return -1
}

export const isDigit = (unit: number): boolean => digitOf(unit) >= 0
export const isUpper = (unit: number): boolean => unit >= 0x41 && unit <= 0x5a
export const isLower = (unit: number): boolean => unit >= 0x61 && unit <= 0x7a
export const isAtom = (unit: number): boolean => isDigit(unit) || isUpper(unit) || isLower(unit)
export const isSpace = (unit: number): boolean =>
  unit === 0x20 || unit === 0xa0 || (unit >= 0x2000 && unit <= 0x200a) || unit === 0x202f || unit === 0x3000
export const isDash = (unit: number): boolean => unit === 0x2d || (unit >= 0x2010 && unit <= 0x2014) || unit === 0x2212
