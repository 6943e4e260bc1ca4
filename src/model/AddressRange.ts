import ipaddr from "ipaddr.js"

/** Whether an address is in one of these ranges. An IPv4 address in IPv6 form counts as IPv4. */
export const contains = (ranges: ReadonlyArray<string>) => {
  const parsed = ranges.map((range) =>
    range.includes("/") ? ipaddr.parseCIDR(range) : ([ipaddr.process(range), bits(range)] as const)
  )
  return (address: string): boolean => {
    if (!ipaddr.isValid(address)) return false
    const one = ipaddr.process(address)
    return parsed.some(([network, length]) => network.kind() === one.kind() && one.match(network, length))
  }
}

const bits = (address: string) => (ipaddr.process(address).kind() === "ipv4" ? 32 : 128)
