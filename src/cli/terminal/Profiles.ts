import { homedir } from "node:os"
import { Config, Console, Effect, FileSystem, Option, Path, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import * as ApiKey from "../../workspaces/ApiKey.ts"
import * as Answer from "./Answer.ts"
import { CommandFailed } from "./CommandFailed.ts"

const Profile = Schema.Struct({
  url: Schema.String,
  key: Schema.RedactedFromValue(Schema.String),
  /** The signing secret, with which `inlet listen` verifies webhooks. */
  secret: Schema.optionalKey(Schema.RedactedFromValue(Schema.String))
})
type Profile = typeof Profile.Type

const Profiles = Schema.fromJsonString(Schema.Record(Schema.String, Profile))

/** Stored in the user's configuration folder, readable only by the user. */
const file = Effect.gen(function* () {
  const path = yield* Path.Path
  const folder = yield* Config.withDefault(Config.NonEmptyString("XDG_CONFIG_HOME"), path.join(homedir(), ".config"))
  return path.join(folder, "inlet", "profiles.json")
})

const unusable = (path: string, why: string) => new CommandFailed({ message: `${path}: ${why}` })

const all = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* file
  const text = yield* fs.readFileString(path).pipe(
    Effect.catchReason("PlatformError", "NotFound", () => Effect.succeed("{}")),
    Effect.mapError(({ message }) => unusable(path, message))
  )
  return yield* Effect.mapError(Schema.decodeEffect(Profiles)(text), () =>
    unusable(path, "Expected what `inlet profiles save` writes. Remove the file, and save the profiles again")
  )
})

const write = Effect.fnUntraced(function* (profiles: Readonly<Record<string, Profile>>) {
  const fs = yield* FileSystem.FileSystem
  const { dirname } = yield* Path.Path
  const path = yield* file
  const text = yield* Effect.orDie(Schema.encodeEffect(Profiles)(profiles))
  const replaced = `${path}.new`
  yield* fs.makeDirectory(dirname(path), { recursive: true, mode: 0o700 }).pipe(
    Effect.andThen(fs.remove(replaced, { force: true })),
    Effect.andThen(fs.writeFileString(replaced, `${text}\n`, { mode: 0o600, flag: "wx" })),
    Effect.andThen(fs.rename(replaced, path)),
    Effect.mapError(({ message }) => unusable(path, message))
  )
})

/** The profile with this name. */
export const get = Effect.fnUntraced(function* (name: string) {
  const profiles = yield* all
  if (Object.hasOwn(profiles, name)) return profiles[name]
  const names = Object.keys(profiles)
  return yield* new CommandFailed({
    message: `No profile ${name}; ${names.length === 0 ? "`inlet profiles save NAME` makes one" : `there are ${names.join(", ")}`}`
  })
})

/** Fails if a profile has this name. Called before a key is made that would replace it. */
export const demandFree = Effect.fnUntraced(function* (name: string) {
  if (!Object.hasOwn(yield* all, name)) return
  return yield* new CommandFailed({
    message: `--save: The profile ${name} exists. Choose another name, or remove it with \`inlet profiles remove ${name}\``
  })
})

/** Stores a profile under this name, replacing an existing one. */
export const keep = Effect.fnUntraced(function* (name: string, profile: Profile) {
  yield* write({ ...(yield* all), [name]: profile })
})

/** Replaces the key or the secret of a profile. */
export const change = Effect.fnUntraced(function* (name: string, changed: Partial<Pick<Profile, "key" | "secret">>) {
  const profile = yield* get(name)
  if (profile !== undefined) yield* keep(name, { ...profile, ...changed })
})

const name = Argument.String("name")

const save = Command.make(
  "save",
  {
    name,
    url: Flag.String("url").pipe(
      Flag.withDescription("URL of the service, default INLET_URL"),
      Flag.filter(
        (url) => /^https?:\/\//i.test(url) && URL.canParse(url),
        () => "a URL such as https://inlet.example.com"
      ),
      Flag.withFallbackConfig(Config.String("INLET_URL"))
    ),
    key: Flag.Redacted("key").pipe(
      Flag.withDescription("API key of the workspace, default INLET_API_KEY"),
      Flag.withFallbackConfig(Config.Redacted("INLET_API_KEY"))
    )
  },
  Effect.fnUntraced(function* ({ key, name, url }) {
    if (ApiKey.scopeOf(key) === undefined) {
      return yield* new CommandFailed({ message: "--key: Expected a whole API key, which begins with ak_" })
    }
    const secret = Option.getOrUndefined(yield* Config.option(Config.Redacted("INLET_WEBHOOK_SECRET")))
    yield* keep(name, { url, key, ...(secret === undefined ? {} : { secret }) })
    yield* Console.log(`Saved ${name} in ${yield* file}`)
  })
).pipe(
  Command.withDescription(
    "Store a URL and key under a name, for --profile and INLET_PROFILE. Also stores the signing secret in INLET_WEBHOOK_SECRET"
  )
)

const list = Command.make(
  "list",
  { json: Answer.json },
  Effect.fnUntraced(function* ({ json }) {
    // Without the keys.
    const profiles = Object.entries(yield* all).map(([name, { url }]) => ({ name, url }))
    yield* Answer.table(json, { profiles }, profiles, "No profiles yet")
  })
).pipe(Command.withDescription("List the profiles, without their keys"))

const remove = Command.make(
  "remove",
  { name },
  Effect.fnUntraced(function* ({ name }) {
    yield* get(name)
    yield* write(Object.fromEntries(Object.entries(yield* all).filter(([other]) => other !== name)))
    yield* Console.log(`Removed ${name}`)
  })
).pipe(Command.withDescription("Remove a profile"))

export const command = Command.make("profiles").pipe(
  Command.withDescription("Stored URLs and keys"),
  Command.withSubcommands([save, list, remove])
)
