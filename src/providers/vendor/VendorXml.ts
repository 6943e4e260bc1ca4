import { Effect, Option, Stream } from "effect"
import { Xml } from "effect/encoding"

/** The root element of a vendor's answer. Fails with `otherwise` for any other name. */
export const parse = <E>(body: string, root: string, otherwise: () => E): Effect.Effect<Xml.Element, E> =>
  Stream.make(body).pipe(
    Stream.pipeThroughChannel(Xml.decodeString({ maxDepth: 32 })),
    Stream.pipeThroughChannel(Xml.elements([root])),
    Stream.runHead,
    Effect.mapError(otherwise),
    Effect.flatMap(Option.match({ onNone: () => Effect.fail(otherwise()), onSome: Effect.succeed }))
  )

/** The elements at a path below `element`. */
export const at = (element: Xml.Element, ...path: ReadonlyArray<string>): ReadonlyArray<Xml.Element> =>
  path.reduce<ReadonlyArray<Xml.Element>>(
    (parents, name) =>
      parents.flatMap(({ children }) =>
        children.flatMap((child) => (typeof child !== "string" && child.name === name ? [child] : []))
      ),
    [element]
  )

/** The text of an element without that of its children. */
export const textOf = ({ children }: Xml.Element) => children.filter((child) => typeof child === "string").join("")

/** Escapes text as character data. */
export const escape = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
