import { Layer } from "effect"
import type { ZoneRecord } from "../../src/providers/registrar/DnsHost.ts"
import { type Account, type Answer, belongsToAnother, make, type Operation, type Question, Vendor } from "./Vendor.ts"

/** The simulator's account. */
export const username = "inlet"
export const password = "eivr4ReKoz-Op3n"
export const ownerHandle = "XX123456-XX"
export const nsGroup = "inlet-dns"

const operationOf = ({ method, url }: Question): Operation | undefined => {
  const path = url.pathname.replace("/v1beta", "")
  const routes: Readonly<Record<string, Operation>> = {
    "POST /auth/login": "login",
    "POST /domains/check": "check",
    "POST /domains": "register",
    "GET /domains": "holds",
    "POST /dns/zones": "publish"
  }
  return routes[`${method} ${path}`] ?? (method === "PUT" && path.startsWith("/dns/zones/") ? "publish" : undefined)
}

const json = (status: number, body: object): Answer => ({
  status,
  type: "application/json",
  body: JSON.stringify(body)
})

/** docs.openprovider.com, every response: code (0 is success), data, desc, maintenance, warnings. */
const ok = (data: object) => json(200, { code: 0, data, desc: "", maintenance: false, warnings: [] })

/** docs.openprovider.com, "errorError": code, data (a string), desc. They come with HTTP status 500, and 401 for tokens. */
const error = (code: number, desc: string, status = 500) => json(status, { code, data: "", desc })

// biome-ignore lint/suspicious/noExplicitAny: what a client sends, looked at field by field
type Json = any

const answer = (question: Question, account: Account): Answer => {
  const body: Json = question.body === "" ? {} : JSON.parse(question.body)
  if (question.method !== "GET" && question.headers["content-type"] !== "application/json") {
    return error(910, "The form you sent was not recognized", 400)
  }
  if (operationOf(question) === "login") return login(body, account)

  const token = question.headers.authorization?.replace(/^Bearer /, "") ?? ""
  if (!account.tokens.has(token)) return error(196, "Authentication/Authorization Failed", 401)
  switch (operationOf(question)) {
    case "check":
      return check(body, account)
    case "register":
      return create(body, account)
    case "holds":
      return list(question.url.searchParams.get("full_name") ?? "", account)
    default: {
      const name = /\/dns\/zones\/(.+)$/.exec(question.url.pathname)?.[1]
      return name === undefined ? createZone(body, account) : updateZone(name, body, account)
    }
  }
}

/** POST /auth/login, authLoginRequest: username, password, ip; authLoginResponseData: reseller_id, token. */
const login = (body: Json, { tokens }: Account) => {
  if (body.username !== username || body.password !== password) return error(196, "Authentication/Authorization Failed")
  const token = `20d65561c9636d262e59aec8582c20c${tokens.size}`
  tokens.add(token)
  return ok({ reseller_id: 123_456, token })
}

/**
 * POST /domains/check, domainCheckDomainRequest: domains [{name, extension}], with_price;
 * domainCheckDomainResult: domain, status (free or active), reason, is_premium, premium {currency, price {create}},
 * price {product {currency, price}, reseller {currency, price}}. 307 when one extension is not sold; more than 15
 * names are an unknown error.
 */
const check = (body: Json, { premiums, prices, sales }: Account) => {
  if (body.domains.length > 15) return error(399, "An unknown domain error has occurred!")
  const results = []
  for (const { extension, name } of body.domains) {
    const row = prices.get(extension)
    if (row === undefined) return error(307, "Your domain request contains an invalid extension!")
    const domain = `${name}.${extension}`
    const free = !sales.has(domain) && !belongsToAnother(domain)
    const premium = premiums.has(domain)
    const price = { currency: row.currency, price: Number(row.decimal) }
    results.push({
      domain,
      status: free ? "free" : "active",
      ...(free ? {} : { reason: "Domain exists" }),
      ...(premium ? { is_premium: true, premium: { currency: row.currency, price: { create: 13_000 } } } : {}),
      ...(body.with_price && free ? { price: { product: { currency: "EUR", price: 1 }, reseller: price } } : {})
    })
  }
  return ok({ results })
}

/**
 * POST /domains, domainCreateDomainRequest: domain {name, extension}, period, unit, owner_handle, admin_handle,
 * tech_handle, billing_handle, ns_group, autorenew (on, off, default), comments; the answer has id and status
 * (ACT active, REQ requested). Errors 307, 311 (not free), 316 (period), 331, 333, 335 (handles), 346 (ours
 * already), 347 (autorenew), 201 (group of name servers).
 */
const create = (body: Json, { pending, prices, sales }: Account) => {
  const name = `${body.domain?.name}.${body.domain?.extension}`
  if (!prices.has(body.domain?.extension)) return error(307, "Your domain request contains an invalid extension!")
  if (!Number.isInteger(body.period) || body.period < 1 || body.period > 10 || body.unit !== "y") {
    return error(316, "Invalid period!")
  }
  if (body.owner_handle !== ownerHandle) return error(331, "Invalid owner handle!")
  if (body.admin_handle !== ownerHandle) return error(333, "Invalid admin handle!")
  if (body.tech_handle !== ownerHandle) return error(335, "Invalid tech handle!")
  if (![nsGroup, "dns-openprovider"].includes(body.ns_group)) {
    return error(201, "Nameserver group name not found in system!")
  }
  if (!["on", "off", "default"].includes(body.autorenew)) return error(347, "Wrong auto renew value")
  if (sales.has(name)) return error(346, "Reseller cannot add duplicate domain")
  if (belongsToAnother(name)) return error(311, "The domain you want to register is not free!")
  sales.set(name, { years: body.period, parameters: { ...body, domain: name, period: String(body.period) } })
  return ok({
    activation_date: "2026-04-29 17:15:19",
    auth_code: "C8$#wgG#25tQ",
    expiration_date: "2027-04-29 17:15:19",
    id: 10_592_139,
    renewal_date: "2027-04-29 17:15:19",
    status: pending.has(name) ? "REQ" : "ACT"
  })
}

/** GET /domains?full_name=: results with domain {name, extension}, id, status, autorenew; total. */
const list = (name: string, { pending, sales }: Account) => {
  if (!sales.has(name)) return ok({ total: 0 })
  const dot = name.indexOf(".")
  return ok({
    results: [
      {
        domain: { name: name.slice(0, dot), extension: name.slice(dot + 1) },
        id: 10_592_139,
        status: pending.has(name) ? "REQ" : "ACT",
        autorenew: "off",
        owner_handle: ownerHandle
      }
    ],
    total: 1
  })
}

/**
 * support.openprovider.eu, "Zones API: How to modify a zone", and API_Format_Records: type, name ("the part of the
 * hostname before the domain name"), value, prio (required for MX), ttl (900, 3600, 10800, 21600, 43200, 86400).
 */
const recordsOf = (rows: ReadonlyArray<Json>): Answer | ReadonlyArray<ZoneRecord> => {
  const records: Array<ZoneRecord> = []
  for (const { name, prio, ttl, type, value } of rows) {
    if (![900, 3_600, 10_800, 21_600, 43_200, 86_400].includes(ttl)) return error(815, "Invalid value for TTL")
    if (typeof value !== "string" || value === "") return error(814, "Value of record not entered")
    const host = name === "" || name === undefined ? "@" : name
    if (host !== "@" && !/^[a-z0-9._-]+$/.test(host)) return error(829, "Invalid record name")
    if (type === "MX") {
      if (!Number.isInteger(prio)) return error(816, "Invalid value for priority")
      records.push({ type, name: host, priority: prio, value })
    } else if (type === "TXT") {
      // Stored in quotes, which it adds if missing.
      records.push({ type, name: host, value: value.replace(/^"(.*)"$/s, "$1") })
    } else {
      return error(803, "Invalid record type")
    }
  }
  const distinct = new Set(records.map((record) => JSON.stringify(record)))
  return distinct.size === records.length ? records : error(817, "Duplicate record")
}

/** POST /dns/zones, zoneCreateZoneRequest: domain, type (master or slave), records. 805 when there is one. */
const createZone = (body: Json, { zones }: Account) => {
  const name = `${body.domain?.name}.${body.domain?.extension}`
  if (body.type !== "master") return error(850, "You did not choose a valid zone type")
  if (zones.has(name)) return error(805, "A zone already exists for this domain")
  const records = recordsOf(body.records)
  if ("status" in records) return records
  zones.set(name, records)
  return ok({ success: true })
}

/** PUT /dns/zones/{name}, zoneUpdateZoneRequest: records {add, remove, replace, update}. 872 without a zone. */
const updateZone = (name: string, body: Json, { zones }: Account) => {
  const zone = zones.get(name)
  if (zone === undefined) return error(872, "Zone specified is not found.")
  const { add, remove, replace } = body.records
  if (replace === undefined) {
    const changed = recordsOf(add ?? remove)
    if ("status" in changed) return changed
    const given = new Set(changed.map((record) => JSON.stringify(record)))
    const others = zone.filter((record) => !given.has(JSON.stringify(record)))
    if (add !== undefined && others.length < zone.length) return error(817, "Duplicate record")
    zones.set(name, add === undefined ? others : [...zone, ...changed])
    return ok({ success: true })
  }
  const records = recordsOf(replace)
  if ("status" in records) return records
  zones.set(name, records)
  return ok({ success: true })
}

export const layer = Layer.effect(Vendor, make("/v1beta", { operation: operationOf, answer, error }))
