import * as HeaderText from "./HeaderText.ts"

/** The limit of file systems, in UTF-8 bytes. */
const longest = 255

/** Direction marks, which can show `gpj.exe` as `exe.jpg`. */
const directions = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** The sanitized base name of a file, or null if nothing is left. */
export const sanitise = (name: string): string | null => {
  const base =
    HeaderText.oneLine(name)
      // Drops the sender's folders.
      .split(/[\\/]/)
      .at(-1)
      ?.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, "")
      .replace(directions, "")
      .trim() ?? ""
  return /^\.*$/.test(base) ? null : bounded(base)
}

/** Truncates before the extension, which names the file type. */
const bounded = (name: string): string => {
  if (Buffer.byteLength(name) <= longest) return name
  const [extension = ""] = /\.[^.\s]{1,15}$/.exec(name) ?? []
  let room = longest - Buffer.byteLength(extension)
  let stem = ""
  for (const character of name.slice(0, name.length - extension.length)) {
    room -= Buffer.byteLength(character)
    if (room < 0) break
    stem += character
  }
  return stem + extension
}
