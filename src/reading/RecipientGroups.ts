import * as PayloadSize from "./PayloadSize.ts"

/**
 * Bytes of payloads that a message has in memory at a time, unless one event has more. Each recipient has a payload of up
 * to three times the message, so that one message of 1 MiB for 100 recipients would take 400 MB, and as much again in each
 * buffer on the way to the database.
 */
const mostPayloadBytes = 16 * 1024 * 1024

/** How many messages at a time have payloads in memory that are written in groups. */
export const mostAtATime = 4

/** The number of recipients whose payloads of this size are written together. */
export const sizeFor = (payloadBytes: number): number => Math.max(1, Math.floor(mostPayloadBytes / payloadBytes))

/** The number of recipients of the first group, when nothing is known but the size of the message. */
export const firstSize = (messageBytes: number): number => sizeFor(PayloadSize.most(messageBytes))

/** Bytes that a message takes until its events are written. Most have one recipient. */
export const memoryOf = (messageBytes: number, recipients: number): number =>
  messageBytes + Math.min(mostPayloadBytes, 3 * messageBytes * (recipients - 1))
