import { homedir } from "node:os"
import { Config, Effect, FileSystem, Option, Path, Schema } from "effect"
import * as DurableFolder from "../../files/DurableFolder.ts"
import { DomainId } from "../../model/Domain.ts"
import type { WebhookId } from "../../model/Webhook.ts"
import { CommandFailed } from "../terminal/CommandFailed.ts"

const Cursor = Schema.fromJsonString(Schema.Struct({ domain_id: DomainId, after: Schema.String }))

const pathOf = Effect.fnUntraced(function* (domainId: DomainId, webhookId: WebhookId | undefined) {
  const path = yield* Path.Path
  const state = yield* Config.withDefault(
    Config.NonEmptyString("XDG_STATE_HOME"),
    path.join(homedir(), ".local", "state")
  )
  return path.join(
    state,
    "inlet",
    "listen",
    `${[domainId, ...(webhookId === undefined ? [] : [webhookId])].join("-")}.json`
  )
})

/**
 * Stores the position in a domain's mail up to which an app has it, in a file. The default is in the user's state
 * folder, one for the domain and one for each webhook.
 */
export const open = Effect.fnUntraced(function* (
  given: Option.Option<string>,
  domainId: DomainId,
  webhookId: WebhookId | undefined
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = Option.isSome(given) ? path.resolve(given.value) : yield* pathOf(domainId, webhookId)
  const unusable = (why: string) => new CommandFailed({ message: `--cursor-file: ${file}: ${why}` })
  const failed = <A, R>(effect: Effect.Effect<A, { readonly message: string }, R>) =>
    Effect.mapError(effect, ({ message }) => unusable(message))

  const text = failed(
    fs.readFileString(file).pipe(Effect.catchReason("PlatformError", "NotFound", () => Effect.succeed("")))
  )
  /** The position in this process. */
  let last = yield* text

  const after = Effect.gen(function* () {
    if (last === "") return undefined
    const cursor = yield* Effect.mapError(Schema.decodeEffect(Cursor)(last), () =>
      unusable("Expected what `inlet listen` writes. Name another file, or remove this one to begin with new mail")
    )
    if (cursor.domain_id !== domainId) {
      return yield* unusable("It is of another domain. Name another file, or remove this one to begin with new mail")
    }
    return cursor.after
  })

  /** The file is complete and synced on success. A crash leaves the previous or this position. */
  const write = Effect.fnUntraced(function* (after: string) {
    if ((yield* text) !== last) {
      return yield* unusable("Another `inlet listen` writes it, too. Give each its own --cursor-file")
    }
    const next = `${yield* Effect.orDie(Schema.encodeEffect(Cursor)({ domain_id: domainId, after }))}\n`
    const partial = `${file}.new`
    const folder = path.dirname(file)
    yield* failed(
      DurableFolder.make(folder).pipe(
        Effect.andThen(fs.remove(partial, { force: true })),
        Effect.andThen(fs.writeFileString(partial, next, { flag: "wx", mode: 0o600 })),
        Effect.andThen(DurableFolder.sync(partial)),
        Effect.andThen(fs.rename(partial, file)),
        Effect.andThen(DurableFolder.sync(folder))
      )
    )
    last = next
  })

  return { file, after, write }
})
