/** Returns one line for a port that cannot be opened, with the setting and the next step. */
export const explain = (names: { readonly host: string; readonly port: string }, cause: unknown): string => {
  const { address, code, hostname, message, port } = Object(cause) as NodeJS.ErrnoException &
    Partial<Record<string, unknown>>
  const at = `${address}:${port}`
  switch (code) {
    case "EADDRINUSE":
      return `${names.port}: ${at} is in use. Stop the program that listens there, or choose another port`
    case "EACCES":
      return `${names.port}: This user may not listen on ${at}. Choose a port above 1023, or grant the right (CAP_NET_BIND_SERVICE)`
    case "EADDRNOTAVAIL":
      return `${names.host}: ${address} is not an address of this machine`
    case "ENOTFOUND":
      return `${names.host}: ${hostname} does not resolve`
    default:
      return `${names.host}, ${names.port}: ${message ?? String(cause)}`
  }
}
