/** A text repeated `count` times. Each `§` in it becomes a running number. */
export interface Run {
  readonly text: string
  readonly count: number
}

/** A row of runs, repeated `times` times: opens and closes what the runs nest. */
export interface Group {
  readonly runs: ReadonlyArray<Run>
  readonly times: number
}

export const types = ["text/html", "text/plain", "message/rfc822", "multipart/x", "application/x"] as const
export const encodings = ["", "quoted-printable", "base64", "x-uuencode"] as const

/** One MIME part, or the body of a mail without parts. */
export interface PartGene {
  readonly type: (typeof types)[number]
  /** Of the Content-Type field, including parameters that break it. */
  readonly parameters: string
  readonly encoding: (typeof encodings)[number]
  /** Whether the body is encoded as declared, or left unencoded. */
  readonly isEncoded: boolean
  readonly css: ReadonlyArray<Group>
  readonly body: ReadonlyArray<Group>
  readonly times: number
}

/** The maximum size of a mail. Short mails are measured faster, and long ones reveal superlinear costs. */
export const limits = [32 * 1_024, 128 * 1_024, 1_048_574] as const

/** The description from which a mail is built. */
export interface Genome {
  readonly limit: (typeof limits)[number]
  readonly header: ReadonlyArray<Group>
  readonly multipart: "none" | "mixed" | "alternative"
  readonly parts: ReadonlyArray<PartGene>
}

/** Writes groups up to a number of bytes. Numbers start at `nonce`, so that no cache recognizes an earlier build. */
const written = (groups: ReadonlyArray<Group>, nonce: number, mostBytes: number): string => {
  let text = ""
  let number = nonce
  for (const { runs, times } of groups) {
    for (let time = 0; time < times && text.length < mostBytes; time++) {
      for (const run of runs) {
        if (!run.text.includes("§")) {
          const room = Math.max(0, mostBytes - text.length)
          text += run.text.repeat(Math.min(run.count, Math.ceil(room / Math.max(1, run.text.length))))
          continue
        }
        for (let at = 0; at < run.count && text.length < mostBytes; at++) {
          text += run.text.replaceAll("§", (number++).toString(36))
        }
      }
    }
  }
  return text
}

const inLines = (text: string) => text.replace(/.{76}/g, "$&\r\n")

const encoded = (text: string, encoding: PartGene["encoding"]): string => {
  if (encoding === "base64") return inLines(Buffer.from(text, "latin1").toString("base64"))
  if (encoding === "quoted-printable") return text.replaceAll("=", "=3D").replace(/[^\r\n]{72}/g, "$&=\r\n")
  return text
}

const part = (gene: PartGene, nonce: number, limit: number): string => {
  const css = written(gene.css, nonce, limit)
  const body = (css === "" ? "" : `<style>/*${nonce}*/${css}</style>`) + written(gene.body, nonce, limit)
  const encoding = gene.encoding === "" ? "" : `Content-Transfer-Encoding: ${gene.encoding}\r\n`
  return `Content-Type: ${gene.type}${gene.parameters}\r\n${encoding}\r\n${gene.isEncoded ? encoded(body, gene.encoding) : body}`
}

/** Builds the mail. The same genome and nonce yield the same bytes. */
export const build = ({ header, limit, multipart, parts }: Genome, nonce = 1): Buffer<ArrayBuffer> => {
  const start = `From: a@sender.example\r\n${written(header, nonce, limit)}MIME-Version: 1.0\r\n`
  const [first] = parts
  let text = start
  if (multipart === "none") text += first === undefined ? "\r\n" : part(first, nonce, limit)
  else {
    text += `Content-Type: multipart/${multipart}; boundary=b\r\n\r\n`
    for (const gene of parts) {
      for (let time = 0; time < gene.times && text.length < limit; time++) {
        text += `--b\r\n${part(gene, nonce + time, limit)}\r\n`
      }
    }
    text += "--b--\r\n"
  }
  return Buffer.from(text.slice(0, limit), "latin1")
}

/** A mail outside of every genome, with which a new thread loads and compiles its code. */
export const warmUp = build({
  limit: 1_048_574,
  header: [{ runs: [{ text: "Subject: =?utf-8?Q?a?=\r\n", count: 1 }], times: 1 }],
  multipart: "mixed",
  parts: (["text/html", "text/plain"] as const).map((type) => ({
    type,
    parameters: "",
    encoding: "",
    isEncoded: false,
    css: type === "text/html" ? [{ runs: [{ text: "p.a{color:#123}", count: 20 }], times: 1 }] : [],
    body: [{ runs: [{ text: "<p class=a>Your code: 482913 https://a.example/x</p>\r\n", count: 200 }], times: 1 }],
    times: 1
  }))
})
