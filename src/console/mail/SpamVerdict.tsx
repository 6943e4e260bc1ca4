import type { Spam } from "../api/Contract.ts"
import { SpamTag } from "../frame/Tag.tsx"

/** Rules that the page names, those that weigh most. */
const shownSymbols = 8

/** What the mail scanner says, with its score and the rules that matched. */
export const SpamVerdict = ({ spam }: { readonly spam: Spam }) => {
  const { required, score, symbols, verdict, virus } = spam
  const shown = symbols.slice(0, shownSymbols)
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
      {shown.length > 0 && (
        <span class="verdicts">
          {shown.map(({ name, score }, index) => (
            <span key={name} class="soft">
              {name} {score}
              {index < shown.length - 1 && ","}
            </span>
          ))}
        </span>
      )}
    </>
  )
}
