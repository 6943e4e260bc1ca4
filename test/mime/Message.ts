/** Encodes a message as Latin-1, so that a test can write any byte, with CRLF line ends. */
export const message = (...lines: ReadonlyArray<string>) => Buffer.from(lines.join("\r\n"), "latin1")
