/** A path with a quoted local part (RFC 5321, section 4.1.2), behind a source route or not. */
const path =
  /^(\s*(?:MAIL\s+FROM|RCPT\s+TO)\s*:\s*<(?:@[^\s,:@<>]+(?:,@[^\s,:@<>]+)*:)?)("(?:[^"\\]|\\[ -~])+")(@[^\s<>@"]+>.*)$/is

/** Refused in quotes too, because other servers read another address or another line in it. */
const refused = /[<>\p{Cc}\u200b\u2060\ufeff]/u

/**
 * A command with another local part in the place of a quoted one, which the library takes for
 * the end of the address when there is a blank in it, and the quoted one. Undefined for any other command.
 */
export const replace = (command: string): { readonly command: string; readonly localPart: string } | undefined => {
  const [, before, localPart, behind] = path.exec(command) ?? []
  if (before === undefined || localPart === undefined || behind === undefined || refused.test(localPart))
    return undefined
  return { command: `${before}quoted${behind}`, localPart }
}
