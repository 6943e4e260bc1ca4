import { Duration } from "effect"

/**
 * How long a shutdown waits for open messages and requests. Longer than the default WEBHOOK_TIMEOUT of 15 s, and short
 * enough to end within 30 s on a slow disk.
 */
export const grace = Duration.seconds(16)
