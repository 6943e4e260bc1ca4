import { Effect, Layer } from "effect"
import * as NodeBuffer from "../mime/NodeBuffer.ts"
import { MailScanner, type Scan, ScanFailed, type Scannable } from "../providers/scanner/MailScanner.ts"
import * as Mood from "./Mood.ts"

const calls = ["scan"] as const

export interface FakeScanner extends Mood.Moody<(typeof calls)[number]> {
  /** For `scanner` of `TestInlet.layer`. */
  readonly layer: Layer.Layer<MailScanner>
  /** The messages to scan, oldest first. */
  readonly mails: ReadonlyArray<Scannable>
}

/** A message without spam and viruses. */
export const clean: Scan = { verdict: "clean", score: 0.5, required: 15, symbols: [], virus: null }

const gtube: Scan = {
  verdict: "spam",
  score: 15.1,
  required: 15,
  symbols: [{ name: "GTUBE", score: 15.1 }],
  virus: null
}

const eicar: Scan = {
  verdict: "virus",
  score: 8,
  required: 15,
  symbols: [{ name: "CLAM_VIRUS", score: 8 }],
  virus: "Eicar-Test-Signature"
}

/** The test patterns that scanners agree on. */
const spamPattern = "XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X"
const virusPattern = "EICAR-STANDARD-ANTIVIRUS-TEST-FILE"

/**
 * A scanner that knows GTUBE and EICAR in plain text, and says `clean` to all else, or what `answer` says. With
 * `refuse`, `fail` and `hang` mail goes on as `unknown`.
 */
export const make = (answer?: (mail: Scannable) => Scan): FakeScanner => {
  const { under, will } = Mood.make(calls)
  const mails: Array<Scannable> = []
  const failed = (kind: ScanFailed["kind"], message: string) => Effect.fail(new ScanFailed({ kind, message }))
  return {
    layer: Layer.succeed(MailScanner, {
      isActive: true,
      scan: (mail) =>
        Effect.suspend(() => {
          mails.push(mail)
          return Effect.sync(() => (answer ?? usual)(mail))
        }).pipe(
          under("scan", {
            refuse: failed("refused", "the fake scanner refuses"),
            fail: failed("unreachable", "the fake scanner does not answer")
          })
        )
    }),
    will,
    mails
  }
}

const usual = ({ message }: Scannable): Scan => {
  const text = NodeBuffer.view(message)
  return text.includes(virusPattern) ? eicar : text.includes(spamPattern) ? gtube : clean
}
