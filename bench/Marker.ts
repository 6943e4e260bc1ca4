/** A marker in the Message-ID and subject of a message, which the sink looks for in the webhook request. */
const prefix = "BENCH-"
const runDigits = 4
const numberDigits = 7
const length = prefix.length + runDigits + 1 + numberDigits

/** The marker of the nth message of a run. Its fixed length keeps all messages the same size. */
export const make = (run: number, number: number) =>
  `${prefix}${`${run}`.padStart(runDigits, "0")}-${`${number}`.padStart(numberDigits, "0")}`

/** The first marker in these bytes. */
export const find = (bytes: Buffer) => {
  const at = bytes.indexOf(prefix)
  if (at < 0 || at + length > bytes.length) return undefined
  const [run, number] = bytes.toString("latin1", at + prefix.length, at + length).split("-")
  return { run: Number(run), number: Number(number) }
}
