/** A costly message of at most 1 MiB, the largest that is accepted. */
export interface Bomb {
  readonly name: string
  /** Built at each call, so that a list of all messages is not in memory. */
  readonly build: () => Buffer
  readonly bytes: Buffer
}

/** 1 MiB without the line end that DATA adds. */
export const mebibyte = 1_048_574

export const bomb = (name: string, build: () => Buffer): Bomb => ({
  name,
  build,
  get bytes() {
    return build()
  }
})

/** The sender, subject and id of every costly message, which identify it in an event list. */
export const header = (name: string) =>
  `From: Bomber <bomber@sender.example>\r\nSubject: bomb: ${name}\r\nMessage-ID: <bomb-${name.replace(/\W+/g, "-")}@sender.example>\r\n`
