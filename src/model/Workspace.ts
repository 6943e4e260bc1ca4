import { Schema } from "effect"

export const WorkspaceId = Schema.String.check(Schema.isUUID()).pipe(Schema.brand("WorkspaceId"))
export type WorkspaceId = typeof WorkspaceId.Type

/**
 * 1 to 100 characters after trimming, without control characters. A body that is not UTF-8 decodes to U+FFFD, which
 * is refused.
 */
export const Name = Schema.Trim.check(
  Schema.makeFilter((name) =>
    name.length >= 1 && [...name].length <= 100 && !/\p{Cc}|\p{Cs}|\ufffd/u.test(name)
      ? undefined
      : "Expected 1 to 100 characters in valid UTF-8, without control characters"
  )
)

/** Characters that nobody sees or that turn the text around them. Scripts and emoji need two joiners. */
const invisible = /(?![\u200c\u200d])\p{Cf}/u

/** A new name, which cannot be blank or look like another one. Names of older versions can. */
export const isVisible = Schema.makeFilter((name: string) =>
  /[\p{L}\p{N}\p{P}\p{S}]/u.test(name) && !invisible.test(name)
    ? undefined
    : "Expected visible characters only, without marks that turn the direction of text"
)

export const WorkspaceName = Name.pipe(Schema.brand("WorkspaceName"))
export type WorkspaceName = typeof WorkspaceName.Type
