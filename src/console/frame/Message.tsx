import { inConsole } from "../api/InConsole.ts"
import { ExactTime } from "./Time.tsx"

const utcTime = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?Z)/

/** A text of the service, with pages of the console in place of routes, and local times in place of UTC ones. */
export const Message = ({ text }: { readonly text: string }) => (
  <>
    {inConsole(text)
      .split(utcTime)
      .map((part, index) =>
        // Every second part is what looks like a time. Text of a sender may have one that no calendar has.
        index % 2 === 0 || Number.isNaN(Date.parse(part)) ? part : <ExactTime key={index} at={part} />
      )}
  </>
)
