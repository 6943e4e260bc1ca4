import type { Dice } from "./Dice.ts"
import { encodings, type Genome, type Group, limits, type PartGene, type Run, types } from "./Genome.ts"
import * as Pieces from "./Pieces.ts"

const counts = [1, 1, 2, 5, 10, 30, 100, 300, 900, 3_000, 10_000, 100_000, 1_000_000]

const textOf = (dice: Dice, pieces: ReadonlyArray<string>): string =>
  Array.from({ length: 1 + dice.roll(dice.chance(30) ? 5 : 2) }, () => dice.oneOf(pieces)).join("")

const run = (dice: Dice, pieces: ReadonlyArray<string>): Run => ({
  text: textOf(dice, pieces),
  count: dice.oneOf(counts)
})

const group = (dice: Dice, pieces: ReadonlyArray<string>): Group => ({
  runs: Array.from({ length: 1 + dice.roll(4) }, () => run(dice, pieces)),
  times: dice.oneOf(counts)
})

const groups = (dice: Dice, pieces: ReadonlyArray<string>, most: number): ReadonlyArray<Group> =>
  Array.from({ length: dice.roll(most + 1) }, () => group(dice, pieces))

const bodyPieces = ({ type }: Pick<PartGene, "type">) => (type === "text/html" ? Pieces.html : Pieces.plain)

const part = (dice: Dice): PartGene => {
  const type = dice.chance(60) ? "text/html" : dice.oneOf(types)
  return {
    type,
    parameters: dice.oneOf(Pieces.parameters),
    encoding: dice.chance(70) ? "" : dice.oneOf(encodings),
    isEncoded: dice.chance(70),
    css: type === "text/html" && dice.chance(70) ? groups(dice, Pieces.css, 2) : [],
    body: [group(dice, bodyPieces({ type })), ...groups(dice, bodyPieces({ type }), 1)],
    times: dice.chance(80) ? 1 : dice.oneOf(counts)
  }
}

/** A random initial genome. */
export const random = (dice: Dice): Genome => {
  const isHeader = dice.chance(15)
  return {
    limit: dice.oneOf(limits),
    header: isHeader ? [group(dice, Pieces.header), ...groups(dice, Pieces.header, 2)] : [],
    multipart: dice.chance(80) ? "none" : dice.oneOf(["mixed", "alternative"] as const),
    parts: isHeader ? [] : Array.from({ length: dice.chance(80) ? 1 : 2 }, () => part(dice))
  }
}

/** The list with one item changed, removed, doubled, moved or added. */
const changed = <A>(dice: Dice, list: ReadonlyArray<A>, change: (one: A) => A, fresh: () => A): ReadonlyArray<A> => {
  if (list.length === 0) return [fresh()]
  const at = dice.roll(list.length)
  const one = list[at] ?? fresh()
  const [before, behind] = [list.slice(0, at), list.slice(at + 1)]
  switch (dice.roll(10)) {
    case 0:
      return [...before, ...behind]
    case 1:
      return [...before, one, fresh(), ...behind].slice(0, 8)
    case 2:
      return [...before, ...behind, one]
    case 3:
      return [...before, one, one, ...behind].slice(0, 8)
    default:
      return [...before, change(one), ...behind]
  }
}

const changedCount = (dice: Dice, count: number): number => {
  const [multiply, add] = [dice.oneOf([0.1, 0.5, 0.8, 1.25, 2, 10]), dice.oneOf([-1, 0, 1])]
  return dice.chance(10) ? dice.oneOf(counts) : Math.max(1, Math.min(1_000_000, Math.round(count * multiply) + add))
}

const changedText = (dice: Dice, text: string, pieces: ReadonlyArray<string>): string => {
  const at = dice.roll(text.length + 1)
  const to = Math.min(text.length, at + 1 + dice.roll(8))
  switch (dice.roll(5)) {
    case 0:
      return textOf(dice, pieces)
    case 1:
      return `${text.slice(0, at)}${text.slice(to)}` || dice.oneOf(pieces)
    case 2:
      return text.slice(0, at) + text.slice(at, to).repeat(2 + dice.roll(30)) + text.slice(to)
    default:
      return (text.slice(0, at) + dice.oneOf(pieces) + text.slice(at)).slice(0, 4_000)
  }
}

const changedGroups = (dice: Dice, list: ReadonlyArray<Group>, pieces: ReadonlyArray<string>): ReadonlyArray<Group> =>
  changed(
    dice,
    list,
    ({ runs, times }) =>
      dice.chance(30)
        ? { runs, times: changedCount(dice, times) }
        : {
            runs: changed(
              dice,
              runs,
              ({ count, text }) =>
                dice.chance(50)
                  ? { text, count: changedCount(dice, count) }
                  : { text: changedText(dice, text, pieces), count },
              () => run(dice, pieces)
            ),
            times
          },
    () => group(dice, pieces)
  )

const changedPart = (dice: Dice, gene: PartGene): PartGene => {
  const choice = dice.roll(20)
  if (choice === 0) return { ...gene, parameters: dice.oneOf(Pieces.parameters) }
  if (choice === 1) return { ...gene, encoding: dice.oneOf(encodings), isEncoded: dice.chance(50) }
  if (choice === 2) return { ...gene, type: dice.oneOf(types) }
  if (choice === 3) return { ...gene, times: changedCount(dice, gene.times) }
  if (gene.type === "text/html" && choice < 11) return { ...gene, css: changedGroups(dice, gene.css, Pieces.css) }
  return { ...gene, body: changedGroups(dice, gene.body, bodyPieces(gene)) }
}

/** The genome with one to four mutations. */
export const mutate = (dice: Dice, genome: Genome): Genome => {
  let child = genome
  for (let changes = 1 + dice.roll(4); changes > 0; changes--) {
    const isOfHeader = child.header.length > 0 ? dice.chance(child.parts.length > 0 ? 50 : 95) : dice.chance(3)
    if (dice.chance(3)) child = { ...child, limit: dice.oneOf(limits) }
    else if (isOfHeader) child = { ...child, header: changedGroups(dice, child.header, Pieces.header) }
    else if (dice.chance(4)) child = { ...child, multipart: dice.oneOf(["none", "mixed", "alternative"] as const) }
    else
      child = {
        ...child,
        parts: changed(
          dice,
          child.parts,
          (one) => changedPart(dice, one),
          () => part(dice)
        )
      }
  }
  return child
}

/** Crosses the parts and headers of two genomes. */
export const cross = (dice: Dice, one: Genome, other: Genome): Genome => {
  const [mother] = one.parts
  const [father] = other.parts
  if (mother === undefined || father === undefined || dice.chance(20)) {
    return { ...one, header: [...one.header, ...other.header].slice(0, 6) }
  }
  const css = dice.chance(50) ? father.css : [...mother.css, ...father.css]
  const body = dice.chance(50) ? mother.body : [...mother.body, ...father.body]
  return { ...one, parts: [{ ...mother, css: css.slice(0, 6), body: body.slice(0, 6) }, ...one.parts.slice(1)] }
}
