import { Schema } from "effect"

const Code = Schema.Struct({
  value: Schema.String.annotate({ description: "what one types: digits in ASCII, their groups joined" }),
  shown: Schema.String.annotate({ description: "as it stands in the mail" }),
  source: Schema.Literals(["subject", "text", "html"]),
  confidence: Schema.Literals(["high", "low"]).annotate({
    description: "`low` where several could be meant or little speaks for it: ask before it is used"
  })
}).annotate({ identifier: "ExtractedCode" })

const Link = Schema.Struct({
  kind: Schema.Literals(["verify", "login", "reset", "invite", "other"]),
  url: Schema.String,
  text: Schema.String.annotate({ description: "what a person reads on it; empty where it is an address alone" }),
  host: Schema.String
}).annotate({ identifier: "ExtractedLink" })

const Unsubscribe = Schema.Struct({
  url: Schema.NullOr(Schema.String),
  mailto: Schema.NullOr(Schema.String),
  oneClick: Schema.Boolean.annotate({
    description: "one POST of `List-Unsubscribe=One-Click` to the URL is enough (RFC 8058)"
  })
}).annotate({ identifier: "Unsubscribe" })

/** What a mail was sent for. Quoted and hidden text is not looked at. */
export const Extracted = Schema.Struct({
  code: Schema.NullOr(Code).annotate({ description: "the one code to type, or null" }),
  links: Schema.Array(Link).annotate({ description: "at most five, the best first" }),
  unsubscribe: Schema.NullOr(Unsubscribe).annotate({ description: "from List-Unsubscribe and List-Unsubscribe-Post" })
}).annotate({ identifier: "Extracted" })
export type Extracted = typeof Extracted.Type
