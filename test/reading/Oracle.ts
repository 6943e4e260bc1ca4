import { domainToASCII } from "node:url"
import { Clock, Effect } from "effect"
import { authenticate } from "mailauth"
import * as HeaderBlock from "../../src/mime/HeaderBlock.ts"
import type { Authentication } from "../../src/model/InboundEvent.ts"
import * as DkimKey from "../../src/sender/DkimKey.ts"
import * as OrdinaryMessage from "../../src/sender/OrdinaryMessage.ts"
import type { Ask } from "../../src/sender/SenderDns.ts"
import * as SenderVerdicts from "../../src/sender/SenderVerdicts.ts"
import * as Spf from "../../src/sender/Spf.ts"
import type { SignedMail } from "./SignedMail.ts"

const authservId = "mx.inlet.test"

const verdicts: ReadonlyArray<string> = ["pass", "fail", "softfail", "neutral", "none", "temperror", "permerror"]
// Checked against the list of verdicts.
const verdict = (result: string) => (verdicts.includes(result) ? (result as Authentication["spf"]) : "neutral")

/** The verdicts of mailauth for a complete message. */
export const whole = (
  { envelope, message }: SignedMail,
  ask: Ask
): Promise<Omit<SenderVerdicts.Checked, "alignment">> =>
  authenticate(message, {
    ip: envelope.remoteAddress,
    helo: envelope.helo,
    sender: envelope.from,
    mta: authservId,
    strict: true,
    disableBimi: true,
    // Resolvers are typed by record type, which is only known at run time here.
    resolver: ask as never
  }).then(({ arc, dkim, dmarc, headers, spf }) => {
    const signatures = dkim.results.map(({ status }) => verdict(status.result))
    const hasFrom = HeaderBlock.fields(message).some(({ name }) => name.toLowerCase() === "from")
    const undecided = hasFrom ? "permerror" : "none"
    const author = dmarc === false ? undefined : dmarc.status.header?.from
    const [field = ""] = /^Authentication-Results: .*(?:\r\n[ \t].*)*/m.exec(headers) ?? []
    return {
      authentication: {
        spf: spf === false ? "none" : verdict(spf.status.result),
        dkim: signatures.find((one) => one === "pass") ?? signatures.find((one) => one !== "none") ?? "none",
        dmarc: dmarc === false ? undecided : verdict(dmarc.status.result),
        arc: arc === false ? "none" : verdict(arc.status.result)
      },
      author: author === undefined ? null : domainToASCII(author.toLowerCase()),
      field: `${field.trimEnd()}${dmarc === false ? `;\r\n dmarc=${undecided}` : ""}\r\n`
    }
  })

/** Shared by all messages, so that a cached answer must also be right for the next one. */
const findSpf = Spf.make(authservId)

/** The verdicts of Inlet, and whether its short path applied. */
export const ours = Effect.fnUntraced(function* (mail: SignedMail, ask: Ask, findKey = DkimKey.make()) {
  const end = mail.message.indexOf("\r\n\r\n")
  const header = end === -1 ? mail.message : mail.message.subarray(0, end + 4)
  const seconds = (yield* Clock.currentTimeMillis) / 1_000
  const checked = yield* Effect.promise(() =>
    SenderVerdicts.find({ ...mail, header, authservId }, { ask, askPolicy: ask, findKey, findSpf, seconds })
  )
  return { checked, isOrdinary: OrdinaryMessage.open(header) !== undefined }
})
