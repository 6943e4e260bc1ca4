/** Steps for each UTF-16 unit of HTML. */
const perUnit = 4

/** Additional steps for the HTML of any mail, because short mails may have long style sheets. */
const allowance = 200_000

/**
 * Limits the cost of the styles and open elements of one HTML text beyond reading each character, in steps of about
 * 10 ns. Charges operations whose cost exceeds their length: a selector for the elements and characters it compares,
 * a variable for its expansion, a tag for the elements it searches or copies. Once the budget is spent, the rest of the
 * text is left out.
 */
export class Budget {
  steps: number

  /** `units` of this HTML, and of all HTML of the mail, whose parts share the budget. */
  constructor(units: number, ofMail = units) {
    // Whole numbers take no memory of their own.
    this.steps = Math.round(units * perUnit + allowance * (units / Math.max(1, ofMail)))
  }

  get isSpent(): boolean {
    return this.steps <= 0
  }
}
