import { createHash, createSign, generateKeyPairSync } from "node:crypto"

/** 4 KB of text, 30 KB of multipart/alternative, 300 KB with an attachment. */
export type Kind = "small" | "medium" | "large"

/** A repeating sequence of message kinds. */
export type Mix = ReadonlyArray<Kind>

/** 60 % small, 30 % medium, 10 % large. */
export const mixed: Mix = ["small", "medium", "small", "small", "large", "small", "medium", "small", "small", "medium"]

export const small: Mix = ["small"]

/** 90 % small, 8 % medium, 2 % large. */
export const mostlySmall: Mix = Array.from({ length: 50 }, (_, index) =>
  index === 25 ? "large" : index % 12 === 6 ? "medium" : "small"
)

export const kindOf = (mix: Mix, number: number): Kind => mix[number % mix.length] ?? "small"

const words = "mail comes in over SMTP and is durable before the reply is sent to the one who waits for it ".repeat(4)

const lines = (bytes: number) => {
  let text = ""
  for (let line = 0; text.length < bytes; line++) text += `${line} ${words.slice(line % 40, (line % 40) + 70)}\r\n`
  return text.slice(0, bytes - 2).concat("\r\n")
}

const file =
  Buffer.alloc(215_000, "inlet")
    .toString("base64")
    .match(/.{1,76}/g)
    ?.join("\r\n") ?? ""

/** Encodes text beyond ASCII as mail programs do: lines of at most 76 characters (RFC 2045, section 6.7). */
const quotedPrintable = (text: string) =>
  text
    .split("\r\n")
    .map((line) =>
      Buffer.from(line)
        .toString("latin1")
        .replace(/[^ -<>-~]/g, (octet) => `=${octet.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`)
        .replace(/.{70,72}(?!=?[0-9A-F]?$)(?<!=.?)(?=.)/g, "$&=\r\n")
    )
    .join("\r\n")

const part = (type: string, text: string) =>
  `--b\r\nContent-Type: text/${type}; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n${quotedPrintable(text)}\r\n`

/** Both parts of a letter say the same. */
const letter = lines(9_700).replaceAll(" is ", " – ")

const html = letter
  .trimEnd()
  .split("\r\n")
  .map((line, number) => `<p style="margin:0 0 12px" id="p${number}">${line}</p>`)
  .join("\r\n")

const rest: Record<Kind, string> = {
  small: `Content-Type: text/plain; charset=utf-8\r\n\r\n${lines(3_500)}`,
  medium: [
    'Content-Type: multipart/alternative; boundary="b"\r\n',
    part("plain", letter),
    part("html", `<!doctype html><html><body>\r\n${html}\r\n</body></html>`),
    "--b--\r\n"
  ].join("\r\n"),
  large: [
    'Content-Type: multipart/mixed; boundary="b"\r\n',
    `--b\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n${lines(4_000)}`,
    `--b\r\nContent-Type: application/pdf; name="a.pdf"\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: attachment; filename="a.pdf"\r\n\r\n${file}\r\n`,
    "--b--\r\n"
  ].join("\r\n")
}

/** The header fields that differ between messages. */
export const head = (id: string, recipient: string) =>
  `From: Sender <sender@sender.example>\r\nTo: ${recipient}\r\nSubject: Message ${id}\r\nMessage-ID: <${id}@sender.example>\r\nDate: ${date}\r\nMIME-Version: 1.0\r\n`

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })

const date = "Sat, 31 Oct 2026 12:00:00 +0000"

/**
 * A DKIM signature of the shared fields, so that one signature serves all messages of a kind and the generator signs
 * nothing. A verifier does all its work: canonicalization, body hash and key look-up.
 */
const signature = (message: string) => {
  const body = message.slice(message.indexOf("\r\n\r\n") + 4)
  const relaxed = body
    .replace(/[\t ]+/g, " ")
    .replace(/ \r\n/g, "\r\n")
    .replace(/(\r\n)+$/, "\r\n")
  const hash = createHash("sha256").update(relaxed).digest("base64")
  const tags = `v=1; a=rsa-sha256; c=relaxed/relaxed; d=sender.example; s=bench; h=from:date; bh=${hash}; b=`
  const fields = `from:Sender <sender@sender.example>\r\ndate:${date}\r\ndkim-signature:${tags}`
  return `DKIM-Signature: ${tags}${createSign("sha256").update(fields).sign(privateKey, "base64")}\r\n`
}

const signed = (message: string) => Buffer.from(signature(message) + message)

/** The rest of a message, built once for each kind. No line starts with a dot. */
export const body: Record<Kind, Buffer> = {
  small: signed(rest.small),
  medium: signed(rest.medium),
  large: signed(rest.large)
}
