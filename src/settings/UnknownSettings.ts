import { ConfigProvider, Effect } from "effect"
import { distance } from "fastest-levenshtein"

/** The maximum distance of a mistyped name, for names that are not short. */
const mostLetters = 2
const shortest = 6

/** Prefixes of variables for this service. Others, such as `HTTP_` or `DATABASE_`, are also used by other programs. */
const ownPrefix =
  /^(?:SMTP|WEBHOOK|DELIVERY|RETENTION|REPLAYS|REGISTRAR|NAMECHEAP|OPENPROVIDER|PLATFORM|WORKSPACES|HTTP_MAX|MAX_EMAILS?|MAX_DOMAINS?|MAX_MESSAGE)_/

/** Kubernetes sets these for a service named `smtp` or `webhook`. */
const ofKubernetes = /_SERVICE_(?:HOST|PORT)|_PORT(?:_\d+_(?:TCP|UDP).*)?$/

/** An unknown variable, and the setting with the most similar name. */
export interface Unknown {
  readonly name: string
  readonly nearest: string
}

/** Finds variables that are probably mistyped settings: similar to one, or with a prefix of the service. */
export const among = (variables: ReadonlyArray<string>, settings: ReadonlyArray<string>): ReadonlyArray<Unknown> => {
  const known = new Set(settings)
  return variables.flatMap((name) => {
    if (known.has(name)) return []
    const [nearest] = settings.toSorted((one, other) => distance(name, one) - distance(name, other))
    if (nearest === undefined) return []
    const isClose = name.length >= shortest && distance(name, nearest) <= mostLetters
    return isClose || (ownPrefix.test(name) && !ofKubernetes.test(name)) ? [{ name, nearest }] : []
  })
}

/** The names of all variables of a provider, whose tree has the words between underscores. */
const namesOf = (
  provider: ConfigProvider.ConfigProvider,
  path: ReadonlyArray<string>
): Effect.Effect<ReadonlyArray<string>, ConfigProvider.SourceError> =>
  Effect.gen(function* () {
    const node = yield* provider.load(path)
    if (node === undefined) return []
    const own = node.value === undefined || path.length === 0 ? [] : [path.join("_")]
    const words =
      node._tag === "Record" ? [...node.keys] : node._tag === "Array" ? [...Array(node.length).keys()].map(String) : []
    const below = yield* Effect.forEach(words, (word) => namesOf(provider, [...path, word]))
    return [...own, ...below.flat()]
  })

/** The names of all variables. The provider has read the settings by then. */
export const names = Effect.orDie(Effect.flatMap(ConfigProvider.ConfigProvider, (provider) => namesOf(provider, [])))

/** Warns of variables that are probably mistyped settings. Such a variable is ignored, and its value is never shown. */
export const warn = Effect.fnUntraced(function* (settings: ReadonlyArray<string>) {
  const unknown = among(yield* names, settings)
  yield* Effect.forEach(
    unknown,
    ({ name, nearest }) => Effect.logWarning(`${name} is not a setting and is ignored. Did you mean ${nearest}?`),
    { discard: true }
  )
})
