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

export const WorkspaceName = Name.pipe(Schema.brand("WorkspaceName"))
export type WorkspaceName = typeof WorkspaceName.Type
