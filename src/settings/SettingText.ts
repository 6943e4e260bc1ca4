import { isIP } from "node:net"
import { Duration, Option, Schema, SchemaTransformation } from "effect"
import { parse } from "../model/AddressRange.ts"
import { RegistrarName } from "../model/Order.ts"

// Decodes the text of a setting, with an error that names the expected form.

export const wholeNumber = (expected: string, pattern: RegExp, maximum = Number.MAX_SAFE_INTEGER) =>
  Schema.String.check(
    Schema.makeFilter((text) => (pattern.test(text) && Number(text) <= maximum ? undefined : expected))
  ).pipe(Schema.decodeTo(Schema.Finite, SchemaTransformation.numberFromString))

export const Count = wholeNumber("Expected a whole number above 0", /^0*[1-9]\d*$/)
/** Zero turns a limit off. Postgres counts up to this. */
export const Limit = wholeNumber(
  "Expected a whole number up to 2147483647, or 0 to turn the limit off",
  /^\d+$/,
  2_147_483_647
)
/** Zero turns a limit off. */
export const ByteLimit = wholeNumber("Expected a whole number of bytes, or 0 to turn the limit off", /^\d+$/)
/** Millions of days ago is before PostgreSQL's first date. */
export const Days = wholeNumber("Expected a whole number of days up to 36500, or 0 to keep everything", /^\d+$/, 36_500)
export const Cents = wholeNumber("Expected a whole number of US cents, such as 299 for $2.99", /^\d+$/)
export const Port = wholeNumber("Expected a port number from 0 to 65535", /^\d+$/, 65_535)
export const Secret = Schema.RedactedFromValue(Schema.NonEmptyString)
export const beginningWith = (start: RegExp, message: string) =>
  Schema.RedactedFromValue(Schema.String.check(Schema.isPattern(start, { message })))

export const PostgresUrl = Schema.RedactedFromValue(
  Schema.String.check(
    Schema.makeFilter((text) => {
      if (hostsOf(text).includes(",")) {
        return "Expected one host. For several servers, put HAProxy in front, which leads to the primary (docs/how-to/survive-the-loss-of-a-machine.md)"
      }
      const url = URL.parse(text)
      // The @ before the host is behind a slash of the password.
      if (url?.pathname.includes("@") === true) {
        return "Expected a password with / and @ written as %2F and %40, or in DATABASE_PASSWORD as it is"
      }
      if (url === null || !/^postgres(ql)?:$/.test(url.protocol)) {
        return "Expected a URL such as postgres://user:password@host:5432/database"
      }
      if ([url.username, url.password, url.hostname, url.pathname].some(isBadlyEscaped)) {
        return "Expected % written as %25, or a password in DATABASE_PASSWORD as it is"
      }
      return url.searchParams.getAll("sslmode").every((mode) => tlsModes.has(mode))
        ? undefined
        : `Expected sslmode to be one of ${[...tlsModes].join(", ")}`
    })
  )
)

/** Modes of `sslmode` that the driver knows. */
const tlsModes: ReadonlySet<string> = new Set(["disable", "allow", "prefer", "require", "verify-ca", "verify-full"])

const isBadlyEscaped = (part: string) => Option.isNone(Option.liftThrowable(decodeURIComponent)(part))

/** The part between the password and the path. */
const hostsOf = (url: string) => /^\w+:\/\/(?:[^/]*@)?([^/?]*)/.exec(url)?.[1] ?? ""

/** Without user and password, because errors and the status of the service may show it. `remedy` names the settings for them. */
export const httpUrl = (remedy: string) =>
  Schema.String.check(
    Schema.makeFilter((text) => {
      const url = URL.parse(text)
      if (url === null || !/^https?:$/.test(url.protocol)) {
        return "Expected an http or https URL such as https://host.example"
      }
      return url.username === "" && url.password === ""
        ? undefined
        : `Expected a URL without user and password. ${remedy}`
    })
  )

export const HttpUrl = httpUrl("Errors and the status of the service may show it")

export const isBase = Schema.makeFilter((text: string) =>
  /[?#]/.test(text) ? "Expected a URL without ? and #, because paths are added to it" : undefined
)

/** Paths are added to it, so it has no slash at its end. */
export const BaseUrl = HttpUrl.check(isBase).pipe(
  Schema.decodeTo(
    Schema.String,
    SchemaTransformation.transform({ decode: (text) => text.replace(/\/+$/, ""), encode: (text) => text })
  )
)

export const HostName = Schema.String.check(
  Schema.isPattern(/^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/i, {
    message: "Expected a name such as example.com, without a dot at its end and in its xn-- form"
  })
)

export const Key = Schema.RedactedFromValue(
  Schema.String.check(
    Schema.makeFilter((text) =>
      Buffer.from(text, "base64").length === 32 ? undefined : "Expected 32 bytes in base64 (openssl rand -base64 32)"
    )
  )
)

const milliseconds: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

const millisecondsIn = (text: string) =>
  Number.parseInt(text, 10) * (milliseconds[text.replace(/^\d+/, "")] ?? Number.NaN)

/** `500ms`, `15s`, `5m`, `2h`, `1d`. */
export const span = Schema.String.check(
  Schema.isPattern(/^\d+(ms|s|m|h|d)$/, { message: "Expected a time such as 500ms, 15s, 5m, 2h or 1d" })
).pipe(
  Schema.decodeTo(
    Schema.Duration,
    SchemaTransformation.transform({
      decode: (text) => Duration.millis(millisecondsIn(text)),
      encode: (duration) => `${Duration.toMillis(duration)}ms`
    })
  )
)

/** A time within these bounds, in the form of the setting. */
export const spanFrom = (least: string, most: string) =>
  span.check(
    Schema.makeFilter((duration) => {
      const given = Duration.toMillis(duration)
      return given >= millisecondsIn(least) && given <= millisecondsIn(most)
        ? undefined
        : `Expected a time from ${least} to ${most}`
    })
  )

/** A value left out would mean something else, such as fewer retries. */
const withoutGaps = Schema.String.check(
  Schema.makeFilter((text) =>
    text.trim() === "" || text.split(",").every((part) => part.trim() !== "")
      ? undefined
      : "Expected a value before and after each comma"
  )
)

export const commaSeparated = <A>(item: Schema.ConstraintCodec<A, string>) =>
  withoutGaps.pipe(
    Schema.decodeTo(
      Schema.Array(item),
      SchemaTransformation.transform({
        decode: (text): ReadonlyArray<string> => (text.trim() === "" ? [] : text.trim().split(/\s*,\s*/)),
        encode: (parts) => parts.join(",")
      })
    )
  )

export const NameServer = Schema.String.check(
  Schema.makeFilter((text) => {
    const [, host = text] = /^\[(.+)\](?::\d{1,5})?$/.exec(text) ?? /^([\d.]+)(?::\d{1,5})?$/.exec(text) ?? []
    return isIP(host) === 0 ? "Expected an address such as 9.9.9.9 or 127.0.0.1:5353" : undefined
  })
)

export const Flag = Schema.Literals(["true", "false"]).pipe(
  Schema.decodeTo(
    Schema.Boolean,
    SchemaTransformation.transform({
      decode: (text) => text === "true",
      encode: (yes): "true" | "false" => (yes ? "true" : "false")
    })
  )
)

export const AddressRange = Schema.String.check(
  Schema.makeFilter((text) =>
    parse(text) !== undefined ? undefined : "Expected addresses or ranges such as 10.1.0.0/16 or fd00:1::/32"
  )
)

/** `com:namecheap`. A TLD may occur several times. */
export const TldRoute = Schema.String.check(
  Schema.isPattern(/^\.?[a-z0-9.-]+:[a-z][a-z0-9-]{0,31}$/i, {
    message: "Expected pairs such as com:namecheap,io:openprovider"
  })
).pipe(
  Schema.decodeTo(
    Schema.Struct({ tld: Schema.String, registrar: RegistrarName }),
    SchemaTransformation.transform({
      decode: (text) => ({
        tld: text.slice(0, text.indexOf(":")).toLowerCase().replace(/^\./, ""),
        registrar: text.slice(text.indexOf(":") + 1).toLowerCase()
      }),
      encode: ({ registrar, tld }) => `${tld}:${registrar}`
    })
  )
)
