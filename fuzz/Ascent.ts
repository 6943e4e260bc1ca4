import * as Breeding from "./Breeding.ts"
import type { Dice } from "./Dice.ts"
import type { Genome } from "./Genome.ts"

/** A genome and the cost of its mail. */
export interface Bred {
  readonly genome: Genome
  /** Bytes of the mail. */
  readonly bytes: number
  /** CPU time in ms for each MiB of the mail. */
  readonly score: number
}

const mostKept = 6
const mostStarters = 24
/** The number of genomes tried without a costlier one before a restart. */
const patience = 150

/** Hill climbing with restarts from random genomes. Keeps the costliest ones, and mutates and crosses them. */
export class Ascent {
  readonly #dice: Dice
  #kept: ReadonlyArray<Bred> = []
  #tried = 0
  #sinceBest = 0

  constructor(dice: Dice) {
    this.#dice = dice
  }

  /** The next genome to measure. */
  next(): Genome {
    const [first] = this.#kept
    if (this.#tried < mostStarters || first === undefined) return Breeding.random(this.#dice)
    const parent = this.#dice.oneOf(this.#kept).genome
    const crossed = this.#dice.chance(15)
      ? Breeding.cross(this.#dice, parent, this.#dice.oneOf(this.#kept).genome)
      : parent
    return Breeding.mutate(this.#dice, crossed)
  }

  /** Whether a genome of this score would be kept. */
  isGood(score: number): boolean {
    return score > (this.#kept.length < mostKept ? 0 : (this.#kept.at(-1)?.score ?? 0))
  }

  /** Records a measured genome. Returns the costliest one of a climb that has ended. */
  learn(bred: Bred): Bred | undefined {
    this.#tried++
    const best = this.#kept[0]?.score ?? 0
    this.#sinceBest = bred.score > best * 1.02 ? 0 : this.#sinceBest + 1
    if (this.isGood(bred.score)) {
      this.#kept = [...this.#kept, bred].sort((one, other) => other.score - one.score).slice(0, mostKept)
    }
    return this.#sinceBest > patience + mostStarters ? this.end() : undefined
  }

  /** Ends the climb. The next genome starts another one. */
  end(): Bred | undefined {
    const [best] = this.#kept
    this.#kept = []
    this.#tried = 0
    this.#sinceBest = 0
    return best
  }
}
