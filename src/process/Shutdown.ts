import { Duration } from "effect"

/**
 * Time for open messages and requests to end after SIGTERM: a webhook request with the default WEBHOOK_TIMEOUT of 15 s
 * may finish. The rest of the 30 s of a shutdown is for a slow disk and a slow database.
 */
export const grace = Duration.seconds(16)
