import { Layer } from "effect"
import {
  type Account,
  type Answer,
  belongsToAnother,
  make,
  type Operation,
  type Price,
  Vendor,
  type VendorRecord
} from "./Vendor.ts"

/** The simulator's account. */
export const apiUser = "inlet"
export const apiKey = "52b4c87ef4fd49cb96a915c0db68124f"
export const clientIp = "192.0.2.10"

const operations: Readonly<Record<string, Operation>> = {
  "namecheap.users.getPricing": "price",
  "namecheap.domains.check": "check",
  "namecheap.domains.getInfo": "holds",
  "namecheap.domains.create": "register",
  "namecheap.domains.dns.getHosts": "records",
  "namecheap.domains.dns.setHosts": "publish"
}

type Parameters = Readonly<Record<string, string>>

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;")

const element = (name: string, attributes: Parameters, children = "") =>
  `<${name}${Object.entries(attributes)
    .map(([key, value]) => ` ${key}="${escaped(value)}"`)
    .join("")}${children === "" ? " />" : `>\n${children}</${name}>`}\n`

/**
 * support/api/methods/domains/check/, "Example Response": ApiResponse with Status OK or ERROR, Errors,
 * RequestedCommand, CommandResponse, Server, GMTTimeDifference, ExecutionTime. The HTTP status is always 200.
 */
const envelope = (status: "OK" | "ERROR", errors: string, command: string, response: string): Answer => ({
  status: 200,
  type: "text/xml; charset=utf-8",
  body: `\uFEFF<?xml version="1.0" encoding="utf-8"?>
<ApiResponse Status="${status}" xmlns="http://api.namecheap.com/xml.response">
  ${errors === "" ? "<Errors />" : `<Errors>${errors}</Errors>`}
  <Warnings />
  <RequestedCommand>${escaped(command)}</RequestedCommand>
  ${response}
  <Server>PHX01APIEXT02</Server>
  <GMTTimeDifference>--4:00</GMTTimeDifference>
  <ExecutionTime>0.008</ExecutionTime>
</ApiResponse>`
})

const ok = (command: string, response: string) =>
  envelope("OK", "", command, element("CommandResponse", { Type: command }, response))

/** Errors/Error with its Number. The text is for people. */
const error = (number: number, text: string) =>
  envelope("ERROR", element("Error", { Number: String(number) }, escaped(text)), "", "")

const answer = (parameters: Parameters, account: Account): Answer => {
  // support/api/global-parameters/, "Global Error Codes".
  const { ApiKey, ApiUser, ClientIp, Command = "", UserName } = parameters
  if (ApiUser === undefined) return error(1010101, "Parameter APIUser is missing")
  if (ApiKey === undefined) return error(1010102, "Parameter APIKey is missing")
  if (ClientIp === undefined) return error(1010105, "Parameter ClientIP is missing")
  if (ApiUser !== apiUser || ApiKey !== apiKey) {
    return error(1011102, "API Key is invalid or API access has not been enabled")
  }
  if (ClientIp !== clientIp) return error(1011150, `Invalid request IP: ${ClientIp}`)
  if (UserName !== apiUser) return error(1019103, "Parameter UserName is not available")
  switch (operations[Command]) {
    case "price":
      return price(parameters, account)
    case "check":
      return check(parameters, account)
    case "holds":
      return getInfo(parameters, account)
    case "register":
      return create(parameters, account)
    case "records":
      return getHosts(parameters, account)
    case "publish":
      return setHosts(parameters, account)
    default:
      return error(1010104, "Parameter Command is missing")
  }
}

/**
 * support/api/methods/users/get-pricing/: ProductType, ActionName, ProductName;
 * UserGetPricingResult/ProductType/ProductCategory/Product/Price with Duration,
 * DurationType, Price, RegularPrice, YourPrice, YourAdditonalCost (sic), Currency.
 */
const price = ({ ActionName, Command = "", ProductName = "", ProductType }: Parameters, { prices }: Account) => {
  if (ProductType !== "DOMAIN") return error(2011298, "ProductType is invalid")
  const row = prices.get(ProductName)
  const priceOf = (years: number, { absolute, currency, decimal, fee, first }: Price) =>
    element("Price", {
      Duration: String(years),
      DurationType: "YEAR",
      Price: decimal,
      PricingType: years > 1 && absolute !== undefined ? "ABSOLUTE" : "MULTIPLE",
      RegularPrice: "99.00",
      YourPrice: years === 1 ? (first ?? decimal) : (absolute ?? decimal),
      YourAdditonalCost: fee,
      CouponPrice: "",
      Currency: currency
    })
  const category = (name: string, product: string) => element("ProductCategory", { Name: name }, product)
  const product =
    row === undefined ? "" : element("Product", { Name: ProductName }, `${priceOf(2, row)}${priceOf(1, row)}`)
  const other =
    row === undefined ? "" : element("Product", { Name: ProductName }, priceOf(1, { ...row, decimal: "0.10" }))
  const categories = `${ActionName === "REGISTER" ? "" : category("RENEW", other)}${category("REGISTER", product)}`
  return ok(Command, element("UserGetPricingResult", {}, element("ProductType", { Name: "DOMAIN" }, categories)))
}

/**
 * support/api/methods/domains/check/: DomainList; DomainCheckResult with Domain, Available, ErrorNo,
 * Description, IsPremiumName, PremiumRegistrationPrice, IcannFee, EapFee. 2011169: at most 50 names.
 */
const check = ({ Command = "", DomainList = "" }: Parameters, { premiums, prices, sales }: Account) => {
  const names = DomainList.split(",")
  if (names.length > 50) return error(2011169, "Only 50 domains are allowed in a single check command")
  return ok(
    Command,
    names
      .map((name) => {
        const sold = prices.has(tldOf(name))
        return element("DomainCheckResult", {
          Domain: name,
          Available: String(sold && !sales.has(name) && !belongsToAnother(name)),
          ErrorNo: sold ? "0" : "2030280",
          Description: sold ? "" : "TLD is not supported in API",
          IsPremiumName: String(premiums.has(name)),
          PremiumRegistrationPrice: premiums.has(name) ? "13000.0000" : "0",
          PremiumRenewalPrice: premiums.has(name) ? "13000.0000" : "0",
          IcannFee: "0",
          EapFee: "0.0000"
        })
      })
      .join("")
  )
}

/** support/api/methods/domains/get-info/: DomainName; DomainGetInfoResult with Status, ID, DomainName, OwnerName, IsOwner. */
const getInfo = ({ Command = "", DomainName = "" }: Parameters, { pending, sales }: Account) => {
  if (belongsToAnother(DomainName)) return error(2016166, "Domain is not associated with your account")
  if (!sales.has(DomainName) || pending.has(DomainName)) return error(2019166, `Domain ${DomainName} not found`)
  return ok(
    Command,
    element(
      "DomainGetInfoResult",
      { Status: "Ok", ID: "736542", DomainName, OwnerName: apiUser, IsOwner: "true", IsPremium: "false" },
      "<DomainDetails><CreatedDate>09/05/2026</CreatedDate></DomainDetails><LockDetails />"
    )
  )
}

const roles = ["Registrant", "Tech", "Admin", "AuxBilling"]
const fields = "FirstName LastName Address1 City StateProvince PostalCode Country Phone EmailAddress".split(" ")

/**
 * support/api/methods/domains/create/: DomainName, Years, the nine required fields of four contacts (Phone as
 * +NNN.NNNNNNNNNN); DomainCreateResult with Registered, ChargedAmount and the ids of the order. Error codes
 * 2015167 (Years), 2010323 (contacts), 2015182 (phone), 2030280 (TLD), 3019166 (not available).
 */
const create = (parameters: Parameters, { pending, prices, sales }: Account) => {
  const { Command = "", DomainName = "", Years = "" } = parameters
  const row = prices.get(tldOf(DomainName))
  if (!/^([1-9]|10)$/.test(Years)) return error(2015167, "Validation error from Years")
  if (row === undefined) return error(2030280, "TLD is not supported in API")
  for (const field of roles.flatMap((role) => fields.map((name) => `${role}${name}`))) {
    const value = parameters[field] ?? ""
    if (value === "") return error(2010323, `Parameter ${field} is missing`)
    if (field.endsWith("Phone") && !/^\+\d{1,3}\.\d{4,14}$/.test(value)) {
      return error(2015182, "Contact phone is invalid. The phone number format is +NNN.NNNNNNNNNN")
    }
    if (field.endsWith("Country") && !/^[A-Z]{2}$/.test(value)) return error(2010323, `Parameter ${field} is invalid`)
  }
  if (sales.has(DomainName) || belongsToAnother(DomainName)) return error(3019166, "Domain name not available")
  sales.set(DomainName, { years: Number(Years), parameters })
  return ok(
    Command,
    element("DomainCreateResult", {
      Domain: DomainName,
      Registered: "true",
      ChargedAmount: `${row.decimal}00`,
      DomainID: "103877",
      OrderID: "22158",
      TransactionID: "51284",
      WhoisguardEnable: "true",
      NonRealTimeDomain: String(pending.has(DomainName))
    })
  )
}

/**
 * support/api/methods/domains-dns/set-hosts/: SLD, TLD, HostName1…n, RecordType1…n, Address1…n, MXPref1…n,
 * TTL1…n (60 to 60000), EmailType; "All host records that are not included into the API call will be deleted".
 * DomainDNSSetHostsResult with IsSuccess. MX records are served with EmailType=MX alone.
 */
const setHosts = (parameters: Parameters, { pending, sales, zones }: Account) => {
  const { Command = "", EmailType, SLD = "", TLD = "" } = parameters
  const name = `${SLD}.${TLD}`
  if (!sales.has(name) || pending.has(name)) return error(2019166, "Domain not found")
  const records: Array<VendorRecord> = []
  for (let n = 1; parameters[`HostName${n}`] !== undefined; n++) {
    const host = parameters[`HostName${n}`] ?? ""
    const value = parameters[`Address${n}`] ?? ""
    const ttl = Number(parameters[`TTL${n}`] ?? "1800")
    if (value === "" || !(ttl >= 60 && ttl <= 60_000)) return error(2015280, "Validation error from RecordType")
    switch (parameters[`RecordType${n}`]) {
      case "MX":
        if (EmailType === "MX") {
          records.push({ type: "MX", name: host, priority: Number(parameters[`MXPref${n}`]), value })
        }
        break
      case "TXT":
        records.push({ type: "TXT", name: host, value })
        break
      case "A":
        records.push({ type: "A", name: host, value })
        break
      default:
        return error(2015280, "Validation error from RecordType")
    }
  }
  zones.set(name, records)
  return ok(Command, element("DomainDNSSetHostsResult", { Domain: name, IsSuccess: "true" }))
}

/**
 * support/api/methods/domains-dns/get-hosts/: SLD, TLD; DomainDNSGetHostsResult with IsUsingOurDNS and EmailType, and a
 * host with HostId, Name, Type, Address, MXPref, TTL for each record.
 */
const getHosts = ({ Command = "", SLD = "", TLD = "" }: Parameters, { sales, zones }: Account) => {
  const name = `${SLD}.${TLD}`
  if (!sales.has(name)) return error(2019166, "Domain not found")
  const hosts = (zones.get(name) ?? []).map((record, index) =>
    element("host", {
      HostId: `${index + 1}`,
      Name: record.name,
      Type: record.type,
      Address: record.value,
      MXPref: record.type === "MX" ? `${record.priority}` : "10",
      TTL: "1800"
    })
  )
  return ok(
    Command,
    element(
      "DomainDNSGetHostsResult",
      { Domain: name, EmailType: "MX", IsUsingOurDNS: String(!name.startsWith("hosted-elsewhere")) },
      hosts.join("")
    )
  )
}

const tldOf = (name: string) => name.slice(name.indexOf(".") + 1)

const parametersOf = (body: string) => Object.fromEntries(new URLSearchParams(body))

export const layer = Layer.effect(
  Vendor,
  make("/xml.response", {
    operation: ({ body, method, url }) =>
      method === "POST" && url.pathname === "/xml.response" ? operations[parametersOf(body).Command ?? ""] : undefined,
    answer: ({ body }, account) => answer(parametersOf(body), account),
    error
  })
)
