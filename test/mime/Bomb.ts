/** A message made to keep its reader busy, in at most a mebibyte: the largest that is accepted. */
export interface Bomb {
  readonly name: string
  /** Made anew at each call, so that a list of all of them is not held in memory. */
  readonly build: () => Buffer
  readonly bytes: Buffer
}

/** A mebibyte, but for the line end that DATA adds where there is none. */
export const mebibyte = 1_048_574

export const bomb = (name: string, build: () => Buffer): Bomb => ({
  name,
  build,
  get bytes() {
    return build()
  }
})

/** Sender, subject and id that every bomb has, so that it can be told apart in a list of events. */
export const header = (name: string) =>
  `From: Bomber <bomber@sender.example>\r\nSubject: bomb: ${name}\r\nMessage-ID: <bomb-${name.replace(/\W+/g, "-")}@sender.example>\r\n`
