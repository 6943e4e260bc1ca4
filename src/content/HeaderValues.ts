/** The first value of each header field, by its name in lower case. */
export type HeaderValues = ReadonlyMap<string, string>

export const of = (headers: ReadonlyArray<{ readonly name: string; readonly value: string }>): HeaderValues => {
  const values = new Map<string, string>()
  for (const { name, value } of headers) {
    const key = name.toLowerCase()
    if (!values.has(key)) values.set(key, value)
  }
  return values
}
