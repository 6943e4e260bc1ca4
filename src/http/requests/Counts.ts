/** Counts something per owner. */
export const make = () => {
  const counts = new Map<string, number>()
  return {
    of: (owner: string): number => counts.get(owner) ?? 0,
    enter: (owner: string) => void counts.set(owner, (counts.get(owner) ?? 0) + 1),
    leave: (owner: string) => {
      const left = (counts.get(owner) ?? 1) - 1
      if (left === 0) counts.delete(owner)
      else counts.set(owner, left)
    }
  }
}
