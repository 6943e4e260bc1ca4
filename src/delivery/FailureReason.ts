/**
 * Why a webhook request has no answer, in the words that a workspace reads. `AnswerAdvice` says for each what to do
 * about it.
 */

export const workerStopped = "the worker stopped before it knew the answer"

export const workersStopped = (count: number) => `${count} workers stopped before they knew the answer`

/** A client leased the delivery and reported nothing before the end of its lease. */
export const untold = "its outcome was not told in time"

export const unreadableSecret = "the signing secret can't be opened"

export const unsigned = (why: string) => `the request could not be signed: ${why}`

/** A bug of the service. */
export const unmade = "the request could not be made"

export const unloaded = "the raw message was not loaded in time"

export const storeSilent = "the raw message store does not answer"

export const databaseSilent = "the database does not answer"

export const unparsed = "the message could not be parsed in time"

/** Retention has removed it. */
export const gone = "the raw message is gone"

export const unknownFormat = (format: string) => `the format ${format} is not known here`

/** A bug of the format. */
export const unmadeBy = (format: string) => `the format ${format} could not make the request`

export const tooLong = (format: string, bytes: number, mostBytes: number) =>
  `the request in the format ${format} has ${bytes} bytes, and at most ${mostBytes} are sent`

export const switching = "the webhook answered 101 and wants another protocol; a webhook has to answer 2xx"
