import { Schema, SchemaTransformation } from "effect"
import { Flag } from "effect/cli"

/** Parses `--name one,two` into a list of choices in the given order. All are chosen by default. */
export const some = <const Name extends string>(name: string, names: ReadonlyArray<Name>, description: string) => {
  const one: Schema.ConstraintCodec<Name, string> = Schema.Literals(names)
  return Flag.String(name).pipe(
    Flag.withSchema(
      Schema.String.pipe(
        Schema.decodeTo(
          Schema.Array(one),
          SchemaTransformation.transform({
            decode: (text): ReadonlyArray<string> => text.split(","),
            encode: (parts) => parts.join(",")
          })
        )
      )
    ),
    Flag.withDescription(description),
    Flag.withDefault(names)
  )
}

export const count = (name: string, otherwise: number, description: string) =>
  Flag.Int(name).pipe(Flag.withDescription(description), Flag.withDefault(otherwise))

export const write = (page: string) =>
  Flag.Boolean("write").pipe(Flag.withDescription(`Writes the results to ${page}`), Flag.withDefault(false))
