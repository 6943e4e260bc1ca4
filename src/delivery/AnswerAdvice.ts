import * as FailureReason from "./FailureReason.ts"

/** The answer to a webhook request, or why there was none. */
interface Failed {
  readonly statusCode: number | null
  readonly error: string | null
}

const byStatus = (status: number): string => {
  if (status >= 300 && status < 400) return "Inlet follows no redirects. Set the webhook to the URL it redirects to"
  if (status === 401 || status === 403) {
    return "The webhook rejects the request. If it verifies the signature, check its secret. Otherwise let it accept requests without a login"
  }
  if (status === 404 || status === 405)
    return "Nothing takes POST requests at this URL. Set the webhook to the right one"
  if (status === 410) return "An answer of 410 makes a delivery dead at once. Set the webhook to a URL that is in use"
  if (status === 413) return "The webhook takes no body of this size. Raise its limit"
  if (status === 429) return "The webhook limits its requests. Raise that limit if mail comes too slowly"
  if (status >= 500) return "The webhook failed. Look at its log for this time, and correct it"
  return "Make the webhook answer 2xx once it has stored the event"
}

const ofService = "This service failed before the request. Its operator finds the cause in its log"
const ofProcess = "A process of this service ended during the request. A webhook may have got the event"

/** By the whole reason, because a client that leases reports errors in words of its own. */
const byReason: ReadonlyMap<string, string> = new Map([
  [FailureReason.workerStopped, ofProcess],
  [FailureReason.untold, "Report the outcome of a leased event before the end of its lease"],
  [FailureReason.unreadableSecret, ofService],
  [FailureReason.unmade, ofService],
  [FailureReason.unloaded, ofService],
  [FailureReason.storeSilent, ofService],
  [FailureReason.databaseSilent, ofService],
  [FailureReason.unparsed, ofService],
  [FailureReason.gone, "Inlet keeps raw mail for a time. Choose a format that does not need it"],
  [FailureReason.switching, "Make the webhook answer 2xx once it has stored the event"]
])

/** Reasons with a value in them, and those of the connection. */
const byPattern: ReadonlyArray<readonly [RegExp, string]> = [
  [/^\d+ workers stopped before/, ofProcess],
  [/^the request could not be signed: /, ofService],
  [/^the format \S+ could not make the request$/, ofService],
  [/^the format \S+ is not known here$/, "Choose a format that this service has, or have its operator add this one"],
  [/^the request in the format \S+ has \d+ bytes/, "Choose a format that takes less room, such as Inlet's own"],
  [/not a public address|denied address/, "Set a webhook on a public address, because Inlet connects to no other"],
  [/does not resolve/, "Correct the host in the webhook's URL, or publish its DNS record"],
  [/DNS did not answer/, "Check the name servers of the webhook's host"],
  [/speak TLS/, "Correct the port in the webhook's URL, or begin the URL with http"],
  [/certificate/, "Renew or correct the certificate of the webhook's host"],
  [/connection refused/, "Start the server of the webhook, or correct the port in its URL"],
  [/no answer within/, "Answer as soon as the event is stored, and process it afterwards"]
]

const general = "Check that the URL is right, and that its server runs and can be reached from here"

/** What to do about a failed webhook request. */
export const of = ({ error, statusCode }: Failed): string => {
  if (statusCode !== null) return byStatus(statusCode)
  if (error === null) return general
  return byReason.get(error) ?? byPattern.find(([pattern]) => pattern.test(error))?.[1] ?? general
}
