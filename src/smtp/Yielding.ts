/** A session whose client could go on and does not. */
export interface Waiting<Session> {
  readonly session: Session
  /** The network of its client. */
  readonly client: string
  /** How long it has kept us waiting. */
  readonly milliseconds: number
}

/** Waiting for so long a session is idle, whoever its client is. */
export const idleMilliseconds = 5_000

/**
 * The session that makes room for one more connection of a client: one of the network
 * that has most connections, and has more of them than the client will have, or else one
 * that has been idle for long. In a network the one that has waited longest goes first.
 */
export const forOneMore = <Session>(
  waiting: ReadonlyArray<Waiting<Session>>,
  client: string,
  connectionsOf: (client: string) => number
): Session | undefined => {
  const most = connectionsOf(client) + 1
  const [first] = inOrder(
    waiting.filter((one) => connectionsOf(one.client) > most || one.milliseconds >= idleMilliseconds),
    connectionsOf
  )
  return first
}

/** Idle sessions in the order in which they end while places are short: those of the busiest networks first. */
export const idle = <Session>(
  waiting: ReadonlyArray<Waiting<Session>>,
  connectionsOf: (client: string) => number
): ReadonlyArray<Session> =>
  inOrder(
    waiting.filter(({ milliseconds }) => milliseconds >= idleMilliseconds),
    connectionsOf
  )

const inOrder = <Session>(
  waiting: ReadonlyArray<Waiting<Session>>,
  connectionsOf: (client: string) => number
): ReadonlyArray<Session> =>
  waiting
    .toSorted(
      (one, other) => connectionsOf(other.client) - connectionsOf(one.client) || other.milliseconds - one.milliseconds
    )
    .map(({ session }) => session)
