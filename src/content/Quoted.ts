/** Marks that mail programs put on what they quote; Outlook on the web writes `x_` before the names of others. */
const quote =
  /(?:^|\s)(?:x_)*(?:gmail_quote|gmail_quote_container|gmail_attr|yahoo_quoted|moz-cite-prefix|moz-forward-container|protonmail_quote|tutanota_quote|zmail_extra|zmail_extra_hr|yiv\d+yahoo_quoted|outlookmessageheader|ms-outlook-mobile-reference-message|mail-editor-reference-message-container|isforwardcontent|isreplycontent|ydp[\da-f]+yahoo_quoted|divrplyfwdmsg|olk_src_body_section|reply-intro|replyintro|forwardedmessage|appendonsend|stopspelling|mailcontainerquote|quoted-text|freshdesk_quote|front-blockquote|hs_reply|hey_quote|cremedquote|mailbird-quote|em_quote|spark_quote)(?=\s|$)/

/** Marks behind which all is quoted, to the end of the element they stand in. */
const rest =
  /(?:^|\s)(?:x_)*(?:divrplyfwdmsg|appendonsend|stopspelling|outlookmessageheader|ms-outlook-mobile-reference-message|mail-editor-reference-message-container)(?=\s|$)/

/** The line that Outlook draws above the header of the message it quotes. */
const outlook = /border-top:\s*solid #(?:e1e1e1|b5c4df) 1\.0pt;\s*padding:\s*3\.0pt/i

/** Of the shortest of the marks. */
const leastMark = 8

/** Whether an element is marked as quoted. `names` are its classes and its id in lower case, `style` is its attribute. */
export const isQuote = (name: string, names: string, style: string): boolean =>
  name === "blockquote" ||
  (names.length >= leastMark && quote.test(names)) ||
  (style.length > 40 && outlook.test(style))

/** Whether what follows it in the same element is quoted as well. */
export const quotesTheRest = (names: string, style: string): boolean =>
  (names.length >= leastMark && rest.test(names)) || (style.length > 40 && outlook.test(style))
