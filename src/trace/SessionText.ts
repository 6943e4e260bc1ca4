/** The client of a mail, as Inlet saw it or as a relay named it. */
export interface Client {
  readonly address: string
  readonly helo: string | null
  readonly relayed: boolean
}

/** Says who handed a mail over. `how` follows a client that Inlet saw itself. */
export const of = ({ address, helo, relayed }: Client, how = ""): string => {
  const name = helo === null || helo === "" ? "nobody" : helo
  if (!relayed) return `${address} connected as ${name}${how}`
  return address === ""
    ? "A relay handed it over by HTTP, and did not name the client"
    : `A relay handed it over by HTTP. It says that ${address} connected as ${name}`
}
