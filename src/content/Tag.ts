/** The part after the first `+` of a recipient's local part, or null. */
export const of = (recipient: string): string | null => {
  const localPart = recipient.slice(0, Math.max(0, recipient.lastIndexOf("@"))).replace(/^"(.*)"$/s, "$1")
  const plus = localPart.indexOf("+")
  return plus === -1 ? null : localPart.slice(plus + 1) || null
}
