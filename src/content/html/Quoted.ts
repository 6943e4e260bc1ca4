/** The marks of mail programs on quotations. */
const marks = (
  "gmail_quote gmail_quote_container gmail_attr yahoo_quoted moz-cite-prefix moz-forward-container " +
  "protonmail_quote tutanota_quote zmail_extra zmail_extra_hr outlookmessageheader " +
  "ms-outlook-mobile-reference-message mail-editor-reference-message-container isforwardcontent " +
  "isreplycontent divrplyfwdmsg olk_src_body_section reply-intro replyintro forwardedmessage appendonsend " +
  "stopspelling mailcontainerquote quoted-text freshdesk_quote front-blockquote hs_reply hey_quote " +
  "cremedquote mailbird-quote em_quote spark_quote"
).split(" ")

/** Marks after which everything is quoted, to the end of the parent element. */
const marksOfTheRest = (
  "divrplyfwdmsg appendonsend stopspelling outlookmessageheader ms-outlook-mobile-reference-message " +
  "mail-editor-reference-message-container"
).split(" ")

/** The border that Outlook puts above the header of the original message. */
const outlook = /border-top:\s*solid #(?:e1e1e1|b5c4df) 1\.0pt;\s*padding:\s*3\.0pt/i

/** Outlook on the web prefixes foreign names with `x_`, Yahoo with a number. */
const before = String.raw`(?:x_)*(?:(?:yiv\d+|ydp[\da-f]+)(?=yahoo_quoted))?`

const named = (names: ReadonlyArray<string>) => new RegExp(`(?:^|\\s)${before}(?:${names.join("|")})(?=\\s|$)`)
const quote = named(marks)
const rest = named(marksOfTheRest)

/** The minimum length of a mark. Nearly all names are shorter. */
const leastLength = Math.min(...[...marks, ...marksOfTheRest].map(({ length }) => length))

/** Whether an element is marked as quoted. `names` has its classes and id in lower case, `style` its attribute. */
export const isQuote = (name: string, names: string, style: string): boolean =>
  name === "blockquote" ||
  (names.length >= leastLength && quote.test(names)) ||
  (style.length > 40 && outlook.test(style))

/** Whether the rest of its parent element is quoted as well. */
export const quotesTheRest = (names: string, style: string): boolean =>
  (names.length >= leastLength && rest.test(names)) || (style.length > 40 && outlook.test(style))
