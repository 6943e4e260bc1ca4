import { inspect, styleText } from "node:util"
import { Cause, Formatter, Logger, type LogLevel, References } from "effect"

const colors: Partial<Record<LogLevel.LogLevel, "gray" | "green" | "yellow" | "red">> = {
  Trace: "gray",
  Debug: "gray",
  Info: "green",
  Warn: "yellow",
  Error: "red",
  Fatal: "red"
}

/** Escapes line breaks and control characters, because values may be untrusted. */
const visible = (text: string) =>
  text.replace(/\p{Cc}/gu, (control) => `\\x${control.charCodeAt(0).toString(16).padStart(2, "0")}`)

const plain = (value: unknown): string => {
  if (typeof value === "string") return value
  if (Cause.isCause(value)) return plain(Cause.squash(value))
  if (value instanceof Error) return value.message === "" ? value.name : value.message
  return inspect(value, { breakLength: Number.POSITIVE_INFINITY, compact: true })
}

/** Annotations, such as `{ port: 25 }`. */
const isDetails = (part: unknown): part is Readonly<Record<string, unknown>> =>
  typeof part === "object" && part !== null && Object.getPrototypeOf(part) === Object.prototype

const indented = (text: string) => text.split("\n").map((line) => `    ${visible(line)}`)

/** Adds the stack trace to errors that need investigation. */
const causesOf = (message: ReadonlyArray<unknown>, cause: Cause.Cause<unknown>) =>
  [...message, cause].filter((part): part is Cause.Cause<unknown> => Cause.isCause(part) && part.reasons.length > 0)

/** Formats `14:06:55.349 INFO  Made the embedded database  folder=data`: message first, then annotations. */
export const forPeople = Logger.make(({ cause, date, fiber, logLevel, message }) => {
  const parts = Array.isArray(message) ? message : [message]
  const isSerious = logLevel === "Error" || logLevel === "Fatal"
  const causes = causesOf(parts, cause)
  const said = parts.filter((part) => !isDetails(part) && (!isSerious || !Cause.isCause(part))).map(plain)
  if (!isSerious) said.push(...causes.filter((one) => !parts.includes(one)).map(plain))
  const about = Object.entries({
    ...Object.assign({}, ...parts.filter(isDetails)),
    ...fiber.getRef(References.CurrentLogAnnotations)
  }).map(([name, value]) => `${name}=${visible(plain(value))}`)
  const time = `${date.toTimeString().slice(0, 8)}.${`${date.getMilliseconds()}`.padStart(3, "0")}`
  const level = logLevel.toUpperCase().padEnd(5)
  const color = colors[logLevel]
  return [
    [time, color === undefined ? level : styleText(color, level), visible(said.join(": ")), ...about].join(" "),
    ...(isSerious ? causes.flatMap((one) => indented(Cause.pretty(one))) : [])
  ].join("\n")
})

/** One JSON object a line. Its message is one text, because a collector needs one type of each field. */
export const forMachines = Logger.map(Logger.formatStructured, ({ message, ...line }) =>
  Formatter.formatJson({
    ...line,
    message: (Array.isArray(message) ? message : [message]).map(plain).join(": ")
  })
)
