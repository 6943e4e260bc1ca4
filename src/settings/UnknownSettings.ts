import { ConfigProvider, Effect } from "effect"
import { distance } from "fastest-levenshtein"

/** A variable one or two letters away from a setting is a mistyped one, unless it is short. */
const mostLetters = 2
const shortest = 6

/** Variables that begin like this are meant for the service. Others begin like `HTTP_` or `DATABASE_`, too. */
const ownPrefix =
  /^(?:SMTP|WEBHOOK|DELIVERY|RETENTION|REPLAYS|REGISTRAR|NAMECHEAP|OPENPROVIDER|PLATFORM|WORKSPACES|HTTP_MAX|MAX_EMAILS?|MAX_DOMAINS?|MAX_MESSAGE)_/

/** Kubernetes sets these for a service named `smtp` or `webhook`. */
const ofKubernetes = /_SERVICE_(?:HOST|PORT)|_PORT(?:_\d+_(?:TCP|UDP).*)?$/

/** A variable that no setting reads, and the setting whose name is most like it. */
export interface Unknown {
  readonly name: string
  readonly nearest: string
}

/** Finds variables that are probably mistyped settings: close to the name of one, or with a prefix of ours. */
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

/** The names of all variables of a provider, which has them as a tree of the words between underscores. */
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

/** Warns of variables that are probably mistyped settings. Such a variable is ignored, and its value is never shown. */
export const warn = (settings: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const provider = yield* ConfigProvider.ConfigProvider
    const unknown = among(yield* namesOf(provider, []), settings)
    yield* Effect.forEach(
      unknown,
      ({ name, nearest }) => Effect.logWarning(`${name} is no setting and is ignored. Did you mean ${nearest}?`),
      { discard: true }
    )
  }).pipe(
    // The settings themselves have been read from it by then.
    Effect.orDie
  )
