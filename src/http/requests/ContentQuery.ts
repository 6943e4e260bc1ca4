import { Schema } from "effect"
import type * as Content from "../../content/html/Content.ts"
import * as PageQuery from "./PageQuery.ts"

const maxChars = 20_000

/** The query of a content request. */
export const ContentQuery = {
  part: Schema.optionalKey(
    Schema.Literals(["reply", "visible", "full", "hidden"]).annotate({
      description:
        "`visible` for the visible text (default), `reply` for the author's new text, `full` with the plain text beside HTML, `hidden` for hidden words of the HTML"
    })
  ),
  format: Schema.optionalKey(
    Schema.Literals(["markdown", "text"]).annotate({
      description: "format of text made from HTML, markdown by default"
    })
  ),
  max_chars: Schema.optionalKey(PageQuery.between(1, 200_000, "maximum characters of the piece, 20000 by default")),
  offset: Schema.optionalKey(PageQuery.between(0, 100_000_000, "start of the piece, 0 by default"))
}

export const requestOf = (query: {
  readonly part?: Content.ContentRequest["part"]
  readonly format?: Content.ContentRequest["format"]
  readonly max_chars?: number
  readonly offset?: number
}): Content.ContentRequest => ({
  part: query.part ?? "visible",
  format: query.format ?? "markdown",
  maxChars: query.max_chars ?? maxChars,
  offset: query.offset ?? 0
})

/** A slice of an event's content. */
export const EventContent = Schema.Struct({
  format: Schema.Literals(["markdown", "text"]),
  content: Schema.String.annotate({ description: "the piece. Links in Markdown are `[words][ref]`" }),
  length: Schema.Int.annotate({ description: "length of the whole part in UTF-16 units" }),
  next_offset: Schema.NullOr(Schema.Int).annotate({
    description: "pass it as `offset` for the next piece, null at the end"
  }),
  tokens_estimate: Schema.Int.annotate({ description: "bytes of the piece ÷ 4" }),
  hidden: Schema.Struct({
    words: Schema.Int.annotate({ description: "number of hidden words in the HTML" }),
    excerpt: Schema.NullOr(Schema.String).annotate({
      description: "the first hidden words with part=hidden, else null"
    })
  }),
  uncertain: Schema.Boolean.annotate({
    description: "whether the HTML has words that a person may not see. They stand in `⟦uncertain: …⟧`"
  }),
  links: Schema.Array(Schema.Struct({ ref: Schema.Int, text: Schema.String, url: Schema.String })).annotate({
    description: "the links of the piece, by their number in the Markdown"
  })
}).annotate({ identifier: "EventContent" })
