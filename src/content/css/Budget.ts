/** Steps for each UTF-16 unit of HTML. */
const perUnit = 4

/** Steps that the HTML of a mail may take however short it is: short mails have long style sheets. */
const allowance = 200_000

/**
 * What the styles and the open elements of one HTML text may cost beyond reading each character, in
 * steps of about 10 ns. What costs more than its length says is charged here: a selector the
 * elements and characters it compares, a variable what it expands to, a tag the elements it looks
 * through. Once it is spent, the rest of the text is left out.
 */
export class Budget {
  steps: number

  /** `units` of the HTML, and of all HTML of the mail: parts share the allowance. */
  constructor(units: number, ofMail = units) {
    this.steps = units * perUnit + allowance * (units / Math.max(1, ofMail))
  }

  get isSpent(): boolean {
    return this.steps <= 0
  }
}
