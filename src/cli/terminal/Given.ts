import { Option } from "effect"

type Values<Fields> = { [Name in keyof Fields]?: Fields[Name] extends Option.Option<infer A> ? A : never }

/** The flags that were given, by their names: the absent are no fields, as requests have it. */
export const of = <const Fields extends Readonly<Record<string, Option.Option<unknown>>>>(fields: Fields) =>
  // Object.fromEntries forgets which value belongs to which name.
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (Option.isSome(value) ? [[name, value.value]] : []))
  ) as Values<Fields>
