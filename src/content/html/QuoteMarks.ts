/** Gmail's classes around a quotation, the line above it, and replies within it. */
export const around = ["gmail_quote", "gmail_quote_container"]

/** Classes and ids that mail programs and support systems give to quotations, in lower case. Some are patterns. */
export const quotations = (
  "gmail_attr yahoo_quoted(?:_\\d+)? moz-cite-prefix moz-forward-container moz-email-headers-table " +
  "protonmail_quote tutanota_quote zmail_extra zmail_extra_hr olk_src_body_section " +
  "mac_outlook_attribution_blockquote isreplycontent isforwardcontent mailcontainerquote freshdesk_quote " +
  "front-blockquote cremedquote quoted_text quoted-text reply-intro replyintro mail-quote hey_quote " +
  "forwardedmessage hs_reply mailbird-quote em_quote spark_quote"
).split(" ")

/** Those after which everything is the answered mail. */
export const heads = (
  "divrplyfwdmsg appendonsend stopspelling outlookmessageheader ms-outlook-mobile-reference-message " +
  "mail-editor-reference-message-container"
).split(" ")

/** Those of signatures. `signature` alone is the id that Outlook on the web gives, or a class of Yahoo with its number. */
export const signatures = (
  "gmail_signature gmail_signature_prefix moz-signature protonmail_signature_block tutanota_signature " +
  "zmail_signature applemailsignature signature$ (?<=ydp[\\da-f]+)signature ms-outlook-mobile-signature yahoo-signature email-signature"
).split(" ")
