import { Duration, Option, Schema } from "effect"
import { span } from "../../settings/SettingText.ts"

/** A duration in the form of the settings, such as 90s, or in words, such as 2 minutes. */
export const parse = (text: string): Option.Option<Duration.Duration> =>
  Option.orElse(Schema.decodeOption(span)(text), () => Duration.fromInput(text as Duration.Input))
