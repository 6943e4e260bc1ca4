import { Config, type Schema } from "effect"

/** One setting as docs/settings.md and `.env.example` show it. */
export interface Documented {
  readonly name: string
  readonly fallback: string
  readonly meaning: string
}

/** Settings that stand together in docs/settings.md. */
export interface Section {
  readonly title: string
  /** Those that have been declared so far, in their order. */
  readonly settings: ReadonlyArray<Documented>
}

/** A section of the settings, and what declares one in it. */
export const section = (title: string) => {
  const settings: Array<Documented> = []

  /**
   * Declares a setting once: how its text is read, what it is when unset, and
   * the line that docs/settings.md has of it. `shown` stands for a fallback that is computed.
   */
  const setting = <A, const B>(
    name: string,
    codec: Schema.ConstraintCodec<A, unknown>,
    fallback: B | Config.Config<B>,
    meaning: string,
    shown?: string
  ): Config.Config<A | B> => {
    settings.push({ name, fallback: shown ?? (fallback === undefined ? "none" : `\`${fallback}\``), meaning })
    return Config.option(Config.schema(codec, name)).pipe(
      Config.flatMap((value): Config.Config<A | B> => {
        if (value._tag === "Some") return Config.succeed(value.value)
        return Config.isConfig(fallback) ? fallback : Config.succeed(fallback)
      })
    )
  }

  const made: Section = { title, settings }
  return { section: made, setting }
}
