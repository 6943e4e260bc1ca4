import { assert, describe, it } from "@effect/vitest"
import * as Content from "../../src/content/html/Content.ts"
import * as SeenHtml from "../../src/content/html/SeenHtml.ts"
import * as Mime from "../../src/mime/Mime.ts"
import * as Insight from "../../src/reading/Insight.ts"
import { carried, isLegible, ofColor, ofText, outright, seen, type Trick } from "./Tricks.ts"

const tricks = [...outright, ...ofText, ...ofColor]

/** A link has its own color, so these tricks leave out text of the background's color. */
const words = (trick: Trick, number: number) =>
  ofColor.includes(trick)
    ? `CANARY${number} says that your code is 909090`
    : `CANARY${number} says that your code is 909090: <a href="https://canary.example/verify?token=Zm9vYmFyYmF6cXV4MTIzNA">verify it</a>`

/** Everything that an agent receives from an HTML mail: its event, and its content in every view. */
const told = (body: string) => {
  const contents = Mime.read(
    Buffer.from(
      `From: a@sender.example\r\nSubject: Hello\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<p>Before it.</p>${body}<p>And after it.</p><blockquote type="cite">Shall we?</blockquote>`
    )
  )
  const { text } = contents
  const { reply } = Insight.of(contents, "a@sender.example")
  const content = Content.read(
    { text, html: contents.html, reply },
    { part: "visible", format: "markdown", maxChars: 200_000, offset: 0 }
  )
  return { text, reply, content, extracted: contents.extracted() }
}

interface Pair {
  readonly name: string
  readonly html: string
}

/** The tricks whose hidden text is returned, and those that suppress the visible text after them. */
const wrong = (all: ReadonlyArray<Pair>): ReadonlyArray<string> => {
  const mail = told(all.map(({ html }, number) => `<div>${html}</div><p>Seen${number}.</p>`).join(""))
  const everything = JSON.stringify(mail)
  const leaked = new Set(Array.from(everything.matchAll(/CANARY(\d+)/g), ([, number]) => Number(number)))
  assert.notMatch(everything, /909090|canary\.example/)
  return all.flatMap(({ name }, number) => [
    ...(leaked.has(number) ? [`told: ${name}`] : []),
    ...(mail.text.includes(`Seen${number}.`) && mail.reply?.includes(`Seen${number}.`) === true
      ? []
      : [`gone: ${name}`])
  ])
}

describe("Text hidden by two tricks", () => {
  it("is removed if one is nested in the other", () => {
    const found = tricks.flatMap((outer) => {
      // A nested color or opposite style makes text visible again.
      const inner = outright.includes(outer)
        ? [...tricks, ...carried, ...seen]
        : ofText.includes(outer)
          ? [...tricks, ...carried]
          : [...outright, ...ofText, ...carried]
      return wrong(
        inner
          // A comment ends where a nested one ends.
          .filter(({ name }) => !(name.startsWith("<!") && outer.name.startsWith("<!")))
          .map((trick, number) => ({
            name: `${outer.name} around ${trick.name}`,
            html: outer.around(trick.around(words(trick, number)))
          }))
      )
    })
    assert.deepStrictEqual(found, [])
  })

  it("is removed if one follows the other", () => {
    const all = [...tricks, ...carried]
    const found = all.flatMap((one, index) =>
      wrong(
        all.slice(index).map((other, number) => {
          const html = one.around(words(one, number))
          return { name: `${one.name} beside ${other.name}`, html: html + other.around(words(other, number)) + html }
        })
      )
    )
    assert.deepStrictEqual(found, [])
  })

  it("is removed if colors are nested, unless the contrast is readable", () => {
    for (const outer of ofColor) {
      const told = ofColor.filter((inner) => SeenHtml.see(outer.around(inner.around("CANARY"))).text.includes("CANARY"))
      const wanted = ofColor.filter((inner) => isLegible(outer, inner))
      assert.deepStrictEqual(
        told.map(({ name }) => name),
        wanted.map(({ name }) => name),
        outer.name
      )
    }
  })
})
