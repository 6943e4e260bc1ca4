// Patterns with `*`, which stands for any characters, also none.

/** True if the pattern matches the whole text. Takes at most `pattern × text` steps. */
export const matches = (pattern: string, text: string): boolean => {
  let at = 0
  let inText = 0
  let star = -1
  let resume = 0
  while (inText < text.length) {
    if (pattern[at] === "*") {
      star = at++
      resume = inText
    } else if (pattern[at] === text[inText]) {
      at++
      inText++
    } else if (star !== -1) {
      // The last star takes one character more.
      at = star + 1
      inText = ++resume
    } else return false
  }
  while (pattern[at] === "*") at++
  return at === pattern.length
}

/** True if some text matches both patterns. */
export const overlap = (one: string, other: string): boolean => {
  // The reachable places in `other`, for each place in `one`.
  let reached = new Set<number>([0])
  const closed = (places: Set<number>) => {
    for (const place of places) if (other[place] === "*") places.add(place + 1)
    return places
  }
  closed(reached)
  for (const character of one) {
    const next = new Set<number>()
    if (character === "*") {
      // The star takes nothing, or what `other` demands.
      const first = Math.min(...reached)
      for (let place = first; place <= other.length; place++) next.add(place)
    } else {
      for (const place of reached) {
        if (other[place] === "*") next.add(place)
        else if (other[place] === character) next.add(place + 1)
      }
    }
    if (next.size === 0) return false
    reached = closed(next)
  }
  return reached.has(other.length)
}
