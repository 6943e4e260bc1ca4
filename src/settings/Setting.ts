import { Config, type Schema } from "effect"

/** One setting as listed in docs/settings.md and `.env.example`. */
export interface Documented {
  readonly name: string
  readonly fallback: string
  readonly meaning: string
}

/** A setting that can be read. */
export interface Declared extends Documented {
  readonly config: Config.Config<unknown>
}

/** A section of docs/settings.md. */
export interface Section {
  readonly title: string
  /** The settings declared so far, in order. */
  readonly settings: ReadonlyArray<Declared>
}

/** A section of the settings, and its function to declare one. */
export const section = (title: string) => {
  const settings: Array<Declared> = []

  /**
   * Declares a setting once: its decoder, its default, and its line in docs/settings.md. `shown` describes a computed
   * default.
   */
  const setting = <A, const B>(
    name: string,
    codec: Schema.ConstraintCodec<A, unknown>,
    fallback: B | Config.Config<B>,
    meaning: string,
    shown?: string
  ): Config.Config<A | B> => {
    const config = Config.option(Config.schema(codec, name)).pipe(
      Config.flatMap((value): Config.Config<A | B> => {
        if (value._tag === "Some") return Config.succeed(value.value)
        return Config.isConfig(fallback) ? fallback : Config.succeed(fallback)
      })
    )
    settings.push({ name, fallback: shown ?? (fallback === undefined ? "none" : `\`${fallback}\``), meaning, config })
    return config
  }

  const made: Section = { title, settings }
  return { section: made, setting }
}
