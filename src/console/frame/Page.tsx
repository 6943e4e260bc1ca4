import type { ComponentChildren } from "preact"
import { useEffect } from "preact/hooks"

/** The title of a page, also in the browser's tab. */
export const Page = ({
  aside,
  children,
  title
}: {
  readonly title: string
  /** Stands at the right of the title. */
  readonly aside?: ComponentChildren
  readonly children: ComponentChildren
}) => {
  useEffect(() => {
    document.title = `${title} · Inlet`
  }, [title])
  return (
    <>
      <header class="page-head">
        <h1>{title}</h1>
        {aside}
      </header>
      {children}
    </>
  )
}
