import { Effect, Redacted, Schema, SchemaGetter } from "effect"
import type { Xml } from "effect/encoding"
import { HttpClient, HttpClientRequest } from "effect/http"
import { inTrouble, inWords } from "../vendor/VendorAnswer.ts"
import { at, parse, textOf } from "../vendor/VendorXml.ts"
import { exchange, refused, safeToRepeat, unavailable, unclear } from "./RegistrarCall.ts"

export interface Credentials {
  readonly apiUrl: string
  readonly apiUser: string
  readonly apiKey: Redacted.Redacted
  /** The IPv4 address of this service, as whitelisted in the account. */
  readonly clientIp: string
}

/** "Not available" in the error codes of domains.create. */
export const takenCodes: ReadonlySet<string> = new Set(["3019166", "4019166"])

const tooManyRequests = "500000"

/** Namecheap's XML API (namecheap.com/support/api/): one URL, a command, and an envelope with OK or ERROR. */
export const make = Effect.fnUntraced(function* ({ apiKey, apiUrl, apiUser, clientIp }: Credentials) {
  const client = yield* HttpClient.HttpClient

  /** The `CommandResponse`. Never retried. */
  const once = Effect.fn("NamecheapApi.call")(function* (
    command: string,
    parameters: Readonly<Record<string, string>>
  ) {
    const { body, status } = yield* exchange(
      client,
      // In the body, so that no URL and no log of one contains the key.
      HttpClientRequest.post(apiUrl).pipe(
        HttpClientRequest.bodyUrlParams({
          ApiUser: apiUser,
          ApiKey: Redacted.value(apiKey),
          UserName: apiUser,
          ClientIp: clientIp,
          Command: command,
          ...parameters
        })
      )
    )
    if (inTrouble(status)) return yield* unavailable(`it answered with HTTP status ${status}`)
    const root = yield* parse(body, "ApiResponse", notUnderstood)
    const { Status } = yield* attributes(Envelope)(root)
    if (Status === "OK") return yield* only(root, "CommandResponse")

    const error = yield* only(root, "Errors", "Error")
    const { Number: code } = yield* attributes(VendorError)(error)
    const message = inWords(`${textOf(error)} (${code})`, [apiKey])
    if (code === tooManyRequests) return yield* unavailable(message, code)
    // Codes 1… concern access and 2… parameters. From 3… on the registry may have received the request, so the
    // outcome is unknown.
    return yield* /^[12]\d{6}$/.test(code) || takenCodes.has(code) ? refused(message, code) : unclear(message, code)
  })

  return {
    once,
    repeatedly: (command: string, parameters: Readonly<Record<string, string>>) =>
      safeToRepeat(once(command, parameters))
  }
})

const Envelope = Schema.Struct({ Status: Schema.Literals(["OK", "ERROR"]) })
const VendorError = Schema.Struct({ Number: Schema.NonEmptyString })

/** `true` in any case. */
export const Flag = Schema.String.pipe(
  Schema.decodeTo(Schema.Boolean, {
    decode: SchemaGetter.transform((text: string) => text.toLowerCase() === "true"),
    encode: SchemaGetter.transform((flag: boolean) => String(flag))
  })
)

const notUnderstood = () => unclear("its answer can't be understood")

/** The required first element at a path. */
export const only = (element: Xml.Element, ...path: ReadonlyArray<string>) => {
  const [first] = at(element, ...path)
  return first === undefined ? Effect.fail(notUnderstood()) : Effect.succeed(first)
}

/** The attributes of an element, decoded by a schema. */
export const attributes = <A, I>(schema: Schema.Codec<A, I>) => {
  const decode = Schema.decodeUnknownEffect(schema)
  return (element: Xml.Element) => decode({ ...element.attributes }).pipe(Effect.mapError(notUnderstood))
}
