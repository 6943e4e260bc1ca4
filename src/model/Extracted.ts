import { Schema } from "effect"

const Code = Schema.Struct({
  value: Schema.String.annotate({ description: "the code as typed: ASCII digits, groups joined" }),
  shown: Schema.String.annotate({ description: "as shown in the mail" }),
  source: Schema.Literals(["subject", "text", "html"]),
  confidence: Schema.Literals(["high", "low"]).annotate({
    description:
      "`low` for several candidates, weak evidence, mail of a list, a reply, or text that a person may not see: ask before using it"
  })
}).annotate({ identifier: "ExtractedCode" })

const Link = Schema.Struct({
  kind: Schema.Literals(["verify", "login", "reset", "invite", "other"]),
  url: Schema.String,
  text: Schema.String.annotate({
    description: "visible text, or the sentence before a bare address. The address of another site is text"
  }),
  host: Schema.String,
  confidence: Schema.optionalKey(Schema.Literals(["high", "low"])).annotate({
    description:
      "`low` if a person may not see it, sees the address of another site, or refuses something with it: ask before opening it. Absent in older events"
  })
}).annotate({ identifier: "ExtractedLink" })

const Unsubscribe = Schema.Struct({
  url: Schema.NullOr(Schema.String),
  mailto: Schema.NullOr(Schema.String),
  oneClick: Schema.Boolean.annotate({
    description: "one POST of `List-Unsubscribe=One-Click` to the URL unsubscribes (RFC 8058)"
  })
}).annotate({ identifier: "Unsubscribe" })

/** Code and links of a mail, without quoted and hidden text. */
export const Extracted = Schema.Struct({
  code: Schema.NullOr(Code).annotate({ description: "the code to type, or null" }),
  links: Schema.Array(Link).annotate({ description: "up to five, the best first" }),
  unsubscribe: Schema.NullOr(Unsubscribe).annotate({ description: "from List-Unsubscribe and List-Unsubscribe-Post" })
}).annotate({ identifier: "Extracted" })
export type Extracted = typeof Extracted.Type
