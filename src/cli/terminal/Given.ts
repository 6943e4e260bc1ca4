import { Option } from "effect"

type Values<Fields> = { [Name in keyof Fields]?: Fields[Name] extends Option.Option<infer A> ? A : never }

/** The given flags by name, as fields of a request. */
export const of = <const Fields extends Readonly<Record<string, Option.Option<unknown>>>>(fields: Fields) =>
  // Object.fromEntries loses the type of each name.
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (Option.isSome(value) ? [[name, value.value]] : []))
  ) as Values<Fields>
