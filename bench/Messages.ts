/** The mix of the benchmark: 60 % text of 4 KB, 30 % multipart of 30 KB, 10 % of 300 KB with an attachment. */
export type Kind = "small" | "medium" | "large"

const words = "mail comes in over SMTP and is durable before the reply is sent to the one who waits for it ".repeat(4)

const lines = (bytes: number) => {
  let text = ""
  for (let line = 0; text.length < bytes; line++) text += `${line} ${words.slice(line % 40, (line % 40) + 70)}\r\n`
  return text.slice(0, bytes - 2).concat("\r\n")
}

const small = `Content-Type: text/plain; charset=utf-8\r\n\r\n${lines(3_800)}`

const medium = [
  'Content-Type: multipart/alternative; boundary="b"\r\n',
  `--b\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n${lines(9_000)}`,
  `--b\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<html><body>${lines(20_000)
    .split("\r\n")
    .map((line) => `<p>${line}</p>`)
    .join("\r\n")
    .slice(0, 20_000)}</body></html>\r\n`,
  "--b--\r\n"
].join("\r\n")

const file =
  Buffer.alloc(215_000, "inlet")
    .toString("base64")
    .match(/.{1,76}/g)
    ?.join("\r\n") ?? ""

const large = [
  'Content-Type: multipart/mixed; boundary="b"\r\n',
  `--b\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n${lines(4_000)}`,
  `--b\r\nContent-Type: application/pdf; name="a.pdf"\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: attachment; filename="a.pdf"\r\n\r\n${file}\r\n`,
  "--b--\r\n"
].join("\r\n")

const bodies = { small, medium, large }

const mix: ReadonlyArray<Kind> = [
  "small",
  "medium",
  "small",
  "small",
  "large",
  "small",
  "medium",
  "small",
  "small",
  "medium"
]

/** The nth message of a run. Its Message-ID tells messages apart. */
export const message = (number: number, run: string, recipient: string, kinds: ReadonlyArray<Kind> = mix): string => {
  const kind = kinds[number % kinds.length] ?? "small"
  return [
    "From: Sender <sender@sender.example>",
    `To: ${recipient}`,
    `Subject: Message ${number}`,
    `Message-ID: <${run}-${number}@sender.example>`,
    "Date: Sat, 31 Oct 2026 12:00:00 +0000",
    "MIME-Version: 1.0",
    bodies[kind]
  ].join("\r\n")
}
