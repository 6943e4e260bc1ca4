import data from "./Words.json" with { type: "json" }

/**
 * What a word near a number or a link indicates. If languages disagree about a word, the first category here wins.
 *
 * `otp`: a code for login or verification. `code`: a code. `once`: with `code` the same as `otp`. `soon`: it expires.
 * `verify`, `login`, `reset`, `password`, `invite`: its purpose.
 * `other`: the label of a number that is not a code. `deal`: shops and gifts.
 * `foot`: the footer of a mail, and codes of earlier mails. `refuse`: declines, cancels or deletes something.
 */
export const categories = [
  "otp",
  "code",
  "verify",
  "login",
  "reset",
  "password",
  "invite",
  "other",
  "deal",
  "once",
  "soon",
  "foot",
  "refuse"
] as const
export type Category = (typeof categories)[number]

type Words = Partial<Readonly<Record<Category, string>>>

const isWords = (language: object): language is Words =>
  Object.keys(language).every((key) => categories.some((category) => category === key))

/**
 * The words of over 80 languages, by language. Words.json has them separated by commas. A word matches at the start
 * of longer words: `code` also matches codes. A dot after a word ends it there. A dash before it lets it also match
 * inside longer words, such as Anmelde-code. Case and accents do not count. In scripts without spaces a word matches
 * anywhere.
 *
 * Sources: the translations of Unicode CLDR, Laravel Lang, devise-i18n, django-allauth, Appwrite, Authgear, Hanko,
 * Wire and the Matrix Authentication Service, which show the terms of a language, and dictionaries.
 */
export const words: ReadonlyArray<Words> = Object.entries(data).map(([name, language]) => {
  if (!isWords(language)) throw new Error(`Words.json: a category of ${name} is not one of ${categories.join(", ")}`)
  return language
})
