/** A session that waits for its client. */
export interface Waiting<Session> {
  readonly session: Session
  /** The network of its client. */
  readonly client: string
  /** Idle time in milliseconds. */
  readonly milliseconds: number
}

/** Idle time from which any session may be ended. */
export const idleMilliseconds = 5_000

/**
 * Chooses the session to end for a new connection: one of the network with most connections, if that has more than the
 * client will have, else one idle for long. Within a network the longest idle session goes first.
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

/** Orders idle sessions for ending under pressure: busiest networks first. */
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
