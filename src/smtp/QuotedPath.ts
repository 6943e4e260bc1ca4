/** A path with a quoted local part (RFC 5321, section 4.1.2), with an optional source route. */
const path =
  /^(\s*(?:MAIL\s+FROM|RCPT\s+TO)\s*:\s*<(?:@[^\s,:@<>]+(?:,@[^\s,:@<>]+)*:)?)("(?:[^"\\]|\\[ -~])+")(@[^\s<>@"]+>.*)$/is

/** Refused in quotes too, because other servers read another address or line from it. */
const refused = /[<>\p{Cc}\u200b\u2060\ufeff]/u

/**
 * Replaces a quoted local part, which the library would cut at a space. Returns the new command and the quoted part,
 * or undefined for other commands.
 */
export const replace = (command: string): { readonly command: string; readonly localPart: string } | undefined => {
  const [, before, localPart, behind] = path.exec(command) ?? []
  if (before === undefined || localPart === undefined || behind === undefined || refused.test(localPart))
    return undefined
  return { command: `${before}quoted${behind}`, localPart }
}
