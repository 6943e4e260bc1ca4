import { Config, type Schema } from "effect"

/** One setting as listed in docs/settings.md and `.env.example`. */
export interface Documented {
  readonly name: string
  readonly fallback: string
  readonly meaning: string
}

/** A section of docs/settings.md. */
export interface Section {
  readonly title: string
  /** The settings declared so far, in order. */
  readonly settings: ReadonlyArray<Documented>
  /** The same, to read. */
  readonly configs: ReadonlyArray<Config.Config<unknown>>
}

/** A section of the settings, and its function to declare one. */
export const section = (title: string) => {
  const settings: Array<Documented> = []
  const configs: Array<Config.Config<unknown>> = []

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
    settings.push({ name, fallback: shown ?? (fallback === undefined ? "none" : `\`${fallback}\``), meaning })
    const config = Config.option(Config.schema(codec, name)).pipe(
      Config.flatMap((value): Config.Config<A | B> => {
        if (value._tag === "Some") return Config.succeed(value.value)
        return Config.isConfig(fallback) ? fallback : Config.succeed(fallback)
      })
    )
    configs.push(config)
    return config
  }

  const made: Section = { title, settings, configs }
  return { section: made, setting }
}
