import { Effect, Option, Redacted, Schema } from "effect"
import { Flag } from "effect/cli"
import { RawOptions } from "../../delivery/formats/RawOptions.ts"
import * as ValidationErrors from "../../http/requests/ValidationErrors.ts"
import { CommandFailed } from "./CommandFailed.ts"

/** The options of the format `raw`, which may have secrets. */
export const flag = Flag.Redacted("raw").pipe(
  Flag.withDescription(
    'beside --to, for raw, as JSON: contentType, field, base64, fields and headers, such as \'{"headers": {"X-API-Key": "…"}}\''
  ),
  Flag.optional
)

const decode = Schema.decodeEffect(Schema.fromJsonString(RawOptions))

/** Reads the flag. The line of a failure says what is wrong with the value, and does not repeat it. */
export const read = (given: Option.Option<Redacted.Redacted>) =>
  Effect.transposeOption(
    Option.map(given, (text) =>
      Effect.mapError(
        decode(Redacted.value(text), { onExcessProperty: "error" }),
        ({ issue }) => new CommandFailed({ message: `--raw: ${ValidationErrors.describe(issue)}` })
      )
    )
  )
