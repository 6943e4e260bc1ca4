import { isIP } from "node:net"
import type { Domain } from "../model/Domain.ts"
import type { Found, LookedUpHost, MxRecord, NoAnswer } from "./DnsLook.ts"
import { error, type HealthCheck, type MxHost, ok, unknown, warning } from "./HealthCheck.ts"

type Named = Pick<Domain, "domain" | "mx_target" | "origin" | "status" | "txt_name" | "txt_value">

/** Records that a message names. */
const mostNamed = 3

/** The longest text of a customer's zone that is shown. */
const mostShown = 100

const shown = (text: string) => {
  const clean = text.replace(/\p{Cc}/gu, "\uFFFD")
  return clean.length > mostShown ? `${clean.slice(0, mostShown)}…` : clean
}

const listed = (texts: ReadonlyArray<string>) =>
  texts.length <= mostNamed
    ? texts.join(", ")
    : `${texts.slice(0, mostNamed).join(", ")} and ${texts.length - mostNamed} more`

const noAnswer = (check: HealthCheck["check"], what: string, reason: NoAnswer) =>
  reason === "Busy"
    ? unknown(
        check,
        `Too many looks at DNS are under way, so the records of ${what} were not looked up`,
        "Ask again in 10 seconds"
      )
    : unknown(
        check,
        `DNS did not answer for ${what} (${reason})`,
        "Retry in a minute. If it stays so, check the name servers of the domain at its registrar"
      )

/** The check of the TXT record that proves ownership. Only own domains have one. */
export const txt = (domain: Named, { texts }: Pick<Found, "texts">): ReadonlyArray<HealthCheck> => {
  const { origin, status, txt_name: name, txt_value: value } = domain
  if (name === null || value === null || texts === null) return []
  const isProven = status !== "pending_verification"
  const publish =
    origin === "purchased"
      ? "Inlet publishes it by itself within minutes of the purchase. Retry then"
      : `Publish it at your DNS provider: name ${name}, type TXT, value ${value}. New records take up to an hour to be seen`
  if (texts._tag === "Failure") return [noAnswer("txt", name, texts.failure)]
  if (texts.success.includes(value)) return [ok("txt", `The TXT record at ${name} has the right value`)]
  const [other] = texts.success
  const seen =
    other === undefined
      ? `There is no TXT record at ${name}`
      : `The TXT record at ${name} has another value: ${shown(other)}`
  return [
    isProven
      ? ok("txt", `${seen}. The domain is already verified, so the record is needed only to verify it again`)
      : error("txt", seen, publish)
  ]
}

/**
 * The checks of the MX records, which tell senders where mail goes. `isRelayed` if a relay has a key to hand mail over:
 * then they name the relay.
 */
export const mx = (
  domain: Named,
  { hosts, literal, mx: found }: Omit<Found, "texts">,
  { isNearby, isRelayed }: { readonly isNearby: boolean; readonly isRelayed: boolean }
): ReadonlyArray<HealthCheck> => {
  const { domain: name, mx_target: target, origin } = domain
  // Its records belong to the service, and development has no public DNS.
  if (origin === "instant" && isNearby) return [ok("mx", `${name} needs no MX record in development`)]
  const publish = publishing(domain)
  if (literal !== null) {
    return [error("mx", `The MX record of ${name} is the address ${literal}. It must be the name of a host`, publish)]
  }
  if (found._tag === "Failure") return [noAnswer("mx", name, found.failure)]
  const records = found.success
  if (records.length === 0) {
    return [error("mx", `${name} has no MX record, so mail servers do not know where to send its mail`, publish)]
  }
  if (records.some(({ host }) => host === "")) {
    return [
      error(
        "mx",
        `${name} has the MX record "0 .", which says that it takes no mail (RFC 7505)`,
        `Remove that record. ${publish}`
      )
    ]
  }
  const ours = records.find(({ host }) => host === target)
  return [
    ours === undefined
      ? without(domain, records, isRelayed)
      : ok("mx", `The MX record of ${name} with priority ${ours.priority} is ${target}`),
    ...(ours === undefined ? [] : elsewhere(domain, ours, records)),
    // The hosts of a relay belong there.
    ...hosts
      .filter(({ host }) => !isRelayed || host === target || ours !== undefined)
      .map((host) => each(domain, host, isNearby))
  ]
}

const publishing = ({ domain, mx_target, origin }: Named) =>
  origin === "instant"
    ? `This is for the operator of the service: publish *.${domain.slice(domain.indexOf(".") + 1)} MX 10 ${mx_target}`
    : `Publish it at your DNS provider: name ${domain} (often written @), type MX, priority 10, value ${mx_target}. New records take up to an hour to be seen`

const without = (domain: Named, records: ReadonlyArray<MxRecord>, isRelayed: boolean): HealthCheck => {
  const { domain: name, mx_target: target } = domain
  if (records.some(({ host }) => host === `${target}.${name}`)) {
    return error(
      "mx",
      `The MX record of ${name} is ${target}.${name}: the DNS provider has added the domain to the value`,
      `Change the value to "${target}." with a dot at its end`
    )
  }
  const names = listed(records.map(({ host, priority }) => `${shown(host)} (priority ${priority})`))
  return isRelayed
    ? warning(
        "mx",
        `The MX records of ${name} name ${names}, so mail arrives only if that hands it over with an ingest key`,
        `Leave them if they are those of your relay. Otherwise: ${publishing(domain)}`
      )
    : error(
        "mx",
        `The MX records of ${name} do not name ${target}, so its mail goes elsewhere: ${names}`,
        publishing(domain)
      )
}

/** Other hosts that take mail, which is never seen here. */
const elsewhere = ({ domain }: Named, ours: MxRecord, records: ReadonlyArray<MxRecord>): ReadonlyArray<HealthCheck> => {
  const others = records.filter(({ host }) => host !== ours.host)
  if (others.length === 0) return []
  const named = (some: ReadonlyArray<MxRecord>) =>
    listed(some.map(({ host, priority }) => `${shown(host)} (priority ${priority})`))
  const before = others.filter(({ priority }) => priority < ours.priority)
  const beside = others.filter(({ priority }) => priority === ours.priority)
  const remedy = `Remove the other MX records of ${domain}, unless you want mail there`
  if (before.length > 0) {
    return [
      error(
        "mx_elsewhere",
        `Senders try a lower priority first, so all mail goes to ${named(before)} while that answers`,
        `${remedy}. If so, give ${ours.host} the lowest number`
      )
    ]
  }
  return [
    beside.length > 0
      ? error("mx_elsewhere", `A part of the mail goes to ${named(beside)}, which has the same priority`, remedy)
      : warning(
          "mx_elsewhere",
          `Mail goes to ${named(others)} while ${ours.host} does not answer, and is not seen here then`,
          remedy
        )
  ]
}

/** The address in a name such as 192.0.2.1.example.com, which a DNS provider makes of an address. */
const addressIn = (host: string) => {
  const [address = ""] = /^\d+\.\d+\.\d+\.\d+/.exec(host) ?? []
  return isIP(address) === 0 ? undefined : address
}

/** The name or its records are wrong, so a retry does not help. */
const isMalformed = (problem: NonNullable<LookedUpHost["problem"]>) =>
  problem === "BadName" || problem === "InvalidResponse"

const each = (
  { domain, mx_target: target }: Named,
  { addresses, host, isAlias, priority, problem }: LookedUpHost,
  isNearby: boolean
): HealthCheck => {
  const isOurs = host === target
  const what = `${shown(host)} (priority ${priority})`
  const whose = isOurs ? "is the mail host of this service" : "belongs to another service"
  const correct = isOurs
    ? "This is for the operator of the service: correct the records of MX_HOST"
    : `Correct or remove this MX record of ${domain}`
  const address = addressIn(host)
  if (address !== undefined && !isOurs) {
    return error("mx_host", `${what} is an address, and an MX record must be the name of a host`, correct)
  }
  if (problem !== null) {
    if (isOurs && isNearby) return ok("mx_host", `${what} ${whose}. Its addresses matter in production only`)
    const message = `${what} ${whose}, and has no address in DNS (${problem})`
    if (problem !== "NotFound" && !isMalformed(problem)) {
      return unknown("mx_host", message, `Retry in a minute. If it stays so: ${correct}`)
    }
    return isOurs ? error("mx_host", message, correct) : warning("mx_host", message, correct)
  }
  if (isAlias) {
    return warning(
      "mx_host",
      `${what} ${whose}, and is an alias (CNAME). Some senders refuse to send to an alias`,
      isOurs ? correct : `Name the host itself in this MX record of ${domain}`
    )
  }
  return ok("mx_host", `${what} ${whose}, at ${listed(addresses)}`)
}

/** The hosts as data. */
export const hosts = ({ mx_target }: Named, { hosts: all }: Pick<Found, "hosts">): ReadonlyArray<MxHost> =>
  all.map(({ addresses, host, priority }) => ({
    host: shown(host),
    priority,
    ours: host === mx_target,
    addresses: addresses.slice(0, mostAddresses)
  }))

/** Addresses of a host that are listed. */
const mostAddresses = 8
