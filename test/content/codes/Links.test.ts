import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import * as CodeScore from "../../../scripts/CodeScore.ts"
import * as Extraction from "../../../src/content/codes/Extraction.ts"
import { see } from "../../../src/content/html/SeenHtml.ts"

const extracted = (subject: string, text: string | null, html?: string) =>
  Extraction.of({
    subject,
    text,
    html: html === undefined ? [] : [see(html)],
    listUnsubscribe: undefined,
    listUnsubscribePost: undefined
  })

const linksOf = (...of: Parameters<typeof extracted>) => extracted(...of).links

const labelled = readFileSync(new URL("../../fixtures/codes.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => Option.getOrThrow(CodeScore.parse(line)))

const secret = "https://acme.example/r?token=9fK2mQ7xT4vB8nL1cR6z"
const button = (url: string, text: string) =>
  `<a href="${url}" style="background:#06c;color:#fff;padding:12px 20px">${text}</a>`

describe("The links of a mail", () => {
  it.for(
    labelled.flatMap((each) =>
      typeof each.want.link === "string" ? [[`${each.lang}, ${each.subject}`, each] as const] : []
    )
  )("begin with the main link and name its purpose: %s", ([, each]) => {
    const [link] = CodeScore.find(each).links
    assert.deepStrictEqual([link?.url, link?.kind], [each.want.link, each.want.linkKind])
  })

  it("include their text and host", () => {
    assert.deepStrictEqual(linksOf("Welcome", null, `<p>Hello</p>${button(secret, "Confirm your address")}`), [
      { kind: "verify", url: secret, text: "Confirm your address", host: "acme.example" }
    ])
    assert.deepStrictEqual(linksOf("Reset your password", `Follow this link:\n\n${secret}\n`), [
      { kind: "reset", url: secret, text: "", host: "acme.example" }
    ])
  })

  it("are marked if they contain a token or are the only button", () => {
    assert.deepStrictEqual(linksOf("News", "Read https://acme.example/blog/our-new-office and sign in soon."), [])
    const [one] = linksOf("Your report is ready", null, button("https://acme.example/report", "Open the report"))
    assert.deepStrictEqual([one?.kind, one?.url], ["other", "https://acme.example/report"])
    assert.deepStrictEqual(
      linksOf("News", null, button("https://acme.example/a", "One") + button("https://acme.example/b", "Two")),
      []
    )
  })

  it("exclude footer links, quoted and hidden links, and images without text", () => {
    const foot = `<a href="https://acme.example/unsubscribe?token=9fK2mQ7xT4vB8nL1cR6z">Unsubscribe</a>`
    const pixel = `<a href="https://acme.example/o?token=1aB2cD3eF4gH5iJ6kL7m"><img src="x" width="600" height="200"></a>`
    assert.deepStrictEqual(
      linksOf("Welcome", null, `${button(secret, "Confirm your address")}${foot}${pixel}`).map(({ url }) => url),
      [secret]
    )
    assert.deepStrictEqual(linksOf("Re: hello", `No.\n> Confirm your address: ${secret}`), [])
    assert.deepStrictEqual(
      linksOf("Re: hello", null, `<p>No.</p><blockquote>${button(secret, "Confirm")}</blockquote>`),
      []
    )
    assert.deepStrictEqual(
      linksOf("Hello", null, `<p>Hi.</p><div style="display:none">${button(secret, "Log in")}</div>`),
      []
    )
  })

  it("are limited to five of the first 500, and to 2,048 characters each", () => {
    const many = Array.from(
      { length: 700 },
      (_, at) => `Log in here: https://acme.example/login?token=aB3dE6gH9jK${at}Qx\n`
    )
    assert.strictEqual(linksOf("Log in", many.join("")).length, 5)
    assert.deepStrictEqual(linksOf("Log in", `Log in: ${secret}${"x".repeat(2_048)}`), [])
  })

  it("end before the punctuation of the sentence", () => {
    for (const text of [
      `Log in (${secret}).`,
      `Log in <${secret}>`,
      `Log in [${secret}]Or write to us`,
      `Log in: ${secret}, or not`,
      `"${secret}"`,
      `登录：${secret}。`
    ]) {
      assert.deepStrictEqual(
        linksOf("Log in", text).map(({ url }) => url),
        [secret],
        text
      )
    }
    const wiki = "https://acme.example/login_(new)?token=9fK2mQ7xT4vB8nL1cR6z"
    assert.deepStrictEqual(
      linksOf("Log in", `Log in: ${wiki}`).map(({ url }) => url),
      [wiki]
    )
  })
})
