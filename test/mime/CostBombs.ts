import { type Bomb, bomb, header, mebibyte } from "./Bomb.ts"

// Mails with a CPU cost far above their size before each step was charged. The first four were known, and `npm run
// fuzz:climb` found the others.

const cut = (text: string) => Buffer.from(text.slice(0, mebibyte), "latin1")

const mail = (name: string, body: string, type = "text/html") =>
  bomb(name, () => cut(`${header(name)}MIME-Version: 1.0\r\nContent-Type: ${type}\r\n\r\n${body}`))

const numbered = (count: number, text: (number: number) => string) =>
  Array.from({ length: count }, (_, number) => text(number)).join("")

/** Costs of style sheets and style attributes. */
const styles: ReadonlyArray<Bomb> = [
  mail(
    "attribute selectors and long attributes",
    `<style>${numbered(9_000, (number) => `[title*='a1b']{color:#${`${number % 1_000}`.padStart(3, "0")}}`)}</style>${`<p title="${"a".repeat(900)}">`.repeat(400)}`
  ),
  mail(
    "variables of every element",
    `<style>*{--a:red;--b:var(--a);color:var(--b);background:var(--a)}</style>${"<br>".repeat(150_000)}`
  ),
  mail(
    "nested selectors of nested elements",
    `<style>div div div div div div{color:red}</style>${"<div>".repeat(3_000)}`
  ),
  mail("rules for short tags", `<style>${":has(a){display:none}".repeat(1_400)}</style>${"<p>".repeat(350_000)}`),
  mail(
    "siblings by position",
    `<style>${numbered(800, (number) => `p:nth-child(${number}n+1) ~ p{color:red}`)}</style>${"<p>x".repeat(8_000)}`
  ),
  mail(
    "a rule of 30,000 declarations and distinct styles",
    `<style>*{${"top:1;".repeat(30_000)}}</style>${numbered(40_000, (number) => `<p style=top:1${number}>`)}`
  ),
  mail(
    "one class 250 times in 4,000 rules",
    `<style>${numbered(4_000, (number) => `.a{top:${number}px}`)}</style><p class="${"a ".repeat(250)}">`
  ),
  mail(
    "nested rules that repeat the selector",
    `<style>a{${"&".repeat(9_000)}{${"&".repeat(9_000)}{color:red}}}</style>x`
  ),
  mail("blanks in attribute selectors", `<style>${`[a${" ".repeat(900)}x]{color:red}`.repeat(280)}</style><p>x`),
  mail("declarations without a colon", `<p style="${"a;".repeat(500_000)}">x`),
  mail("addresses in a style that do not end", `<p style="background:${"url(".repeat(100_000)}">x`),
  mail("blanks in addresses of styles", `<p style="background:url(${" ".repeat(3_000)}">x`.repeat(100)),
  mail(
    "digits other than a length",
    numbered(2_000, (number) => `<p style="width:${"1".repeat(450)}-${number}">`)
  ),
  mail(
    "gradients of long words",
    numbered(2_000, (number) => `<p style="background:linear-gradient(${"a".repeat(400)}-${number})">`)
  )
]

/** Costs of open elements and of the text made of them. */
const elements: ReadonlyArray<Bomb> = [
  mail(
    "formatting closed below 500 blocks",
    `${"<b>".repeat(400)}${"<div>".repeat(500)}${"</b>".repeat(400)}${"</div>".repeat(500)}`.repeat(110)
  ),
  mail(
    "formatting closed below 500 blocks, each indented",
    `${"<b>".repeat(400)}${"<div style=margin-left:1px>".repeat(500)}${"</b>".repeat(400)}${"</div>".repeat(500)}`.repeat(
      55
    )
  ),
  mail("tags below 950 elements", `<p><object>${"<span>".repeat(950)}${"<hr>".repeat(250_000)}`),
  mail("end tags below 950 elements", `<b><object>${"<span>".repeat(950)}${"</b>".repeat(250_000)}`),
  mail("text in 990 rows of no table", `${"<tr>".repeat(990)}${"x<wbr>".repeat(170_000)}`),
  mail("beginnings of images in the words", "[image: ".repeat(130_000)),
  mail(
    "a long class and many codes",
    `<div class="${"a b".repeat(100_000)}">${"Your code:<br>482913<br>".repeat(200)}`
  ),
  mail("quotations without a mark", "<blockquote>a</blockquote>".repeat(19_000))
]

const texts: ReadonlyArray<Bomb> = [
  mail("links that end in dots", `https://${".".repeat(2_000)}x `.repeat(32), "text/plain"),
  mail(
    "many codes of a plain text, and digits in the HTML",
    [
      ...Array.from({ length: 220 }, (_, number) => `--b\r\n\r\nyour code is 4444444${100 + number}`),
      `--b\r\nContent-Type: text/html; charset=latin1\r\n\r\n<p>${"4\xa0&ndash;".repeat(21_000)}`,
      "--b--\r\n"
    ].join("\r\n"),
    "multipart/alternative; boundary=b"
  ),
  mail("lines that may say who wrote", "1 a:\r\n".repeat(10_900), "text/plain"),
  bomb("encoded words of charsets that nobody knows", () =>
    cut(
      `${header("charsets")}Comments: ${numbered(70_000, (number) => `=?a${number}?Q?=FF?=`)}`
        .slice(0, mebibyte - 6)
        .concat("\r\n\r\nx")
    )
  ),
  bomb("900 signatures", () =>
    cut(
      `${header("signatures")}${"DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=a.example; s=s; l=1; h=from:x; bh=AAAA; b=AAAA\r\n".repeat(900)}\r\nx`
    )
  )
]

/** All of them. */
export const costBombs: ReadonlyArray<Bomb> = [...styles, ...elements, ...texts]
