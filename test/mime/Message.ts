/** Latin-1, so that a test can write any byte; lines end as mail's do. */
export const message = (...lines: ReadonlyArray<string>) => Buffer.from(lines.join("\r\n"), "latin1")
