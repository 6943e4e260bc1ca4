import type { Spam } from "../api/Contract.ts"
import { SpamTag } from "../frame/Tag.tsx"

/** Rules that the page names, those that weigh most. */
const shownSymbols = 8

/** What the mail scanner says, with its score and the rules that matched. */
export const SpamVerdict = ({ spam }: { readonly spam: Spam }) => {
  const { required, score, symbols, verdict, virus } = spam
  return (
    <>
      <SpamTag verdict={verdict} />{" "}
      {verdict === "unknown" ? (
        <span>The scanner gave no usable answer in time.</span>
      ) : (
        <span>
          {virus !== null && <>{virus}, </>}
          score {score}
          {required !== null && <> of {required}</>}
        </span>
      )}
      {symbols.length > 0 && (
        <span class="verdicts">
          {symbols.slice(0, shownSymbols).map(({ name, score }) => (
            <span key={name} class="soft">
              {name} {score}
            </span>
          ))}
        </span>
      )}
    </>
  )
}
