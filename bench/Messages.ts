/** 4 KB of text, 30 KB of multipart/alternative, 300 KB with an attachment. */
export type Kind = "small" | "medium" | "large"

/** Which kinds follow each other, over and over. */
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

const rest: Record<Kind, string> = {
  small: `Content-Type: text/plain; charset=utf-8\r\n\r\n${lines(3_800)}`,
  medium: [
    'Content-Type: multipart/alternative; boundary="b"\r\n',
    `--b\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n${lines(9_000)}`,
    `--b\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<html><body>${lines(20_000)
      .split("\r\n")
      .map((line) => `<p>${line}</p>`)
      .join("\r\n")
      .slice(0, 20_000)}</body></html>\r\n`,
    "--b--\r\n"
  ].join("\r\n"),
  large: [
    'Content-Type: multipart/mixed; boundary="b"\r\n',
    `--b\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n${lines(4_000)}`,
    `--b\r\nContent-Type: application/pdf; name="a.pdf"\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: attachment; filename="a.pdf"\r\n\r\n${file}\r\n`,
    "--b--\r\n"
  ].join("\r\n")
}

/** The fields that differ from message to message. */
export const head = (id: string, recipient: string) =>
  `From: Sender <sender@sender.example>\r\nTo: ${recipient}\r\nSubject: Message ${id}\r\nMessage-ID: <${id}@sender.example>\r\nDate: Sat, 31 Oct 2026 12:00:00 +0000\r\nMIME-Version: 1.0\r\n`

/** What follows them, made once for all messages of a kind. No line begins with a dot. */
export const body: Record<Kind, Buffer> = {
  small: Buffer.from(rest.small),
  medium: Buffer.from(rest.medium),
  large: Buffer.from(rest.large)
}
