import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The client of a database before each of whose statements with these words this happens. */
export const before = <E>(words: string, happening: Effect.Effect<unknown, E>) =>
  Effect.map(
    SqlClient.SqlClient,
    (sql) =>
      new Proxy(sql, {
        apply: (target, self, given: ReadonlyArray<unknown>) => {
          const [template] = given
          const statement = Reflect.apply(target, self, given)
          return Array.isArray(template) && template.some((part) => String(part).includes(words))
            ? Effect.andThen(happening, statement)
            : statement
        }
      })
  )
