import { generateKeyPairSync, type KeyObject } from "node:crypto"

/** Signing keys, which a name server publishes in many forms. */
export type KeyKind = "r1" | "r2" | "r5" | "ed"

const rsa = (modulusLength: number) => generateKeyPairSync("rsa", { modulusLength })
const pairs: Record<KeyKind, { readonly publicKey: KeyObject; readonly privateKey: KeyObject }> = {
  r1: rsa(1_024),
  r2: rsa(2_048),
  r5: rsa(512),
  ed: generateKeyPairSync("ed25519")
}

export const privateKey = (kind: KeyKind): KeyObject => pairs[kind].privateKey

const spki = (kind: KeyKind) => pairs[kind].publicKey.export({ format: "der", type: "spki" })
/** The form in records: RFC 8463 has the bare key. */
const published = (kind: KeyKind) =>
  spki(kind)
    .subarray(kind === "ed" ? -32 : 0)
    .toString("base64")
const pkcs1 = (kind: KeyKind) =>
  kind === "ed"
    ? spki(kind).toString("base64")
    : pairs[kind].publicKey.export({ format: "der", type: "pkcs1" }).toString("base64")
const type = (kind: KeyKind) => (kind === "ed" ? "ed25519" : "rsa")
const usual = (kind: KeyKind) => `v=DKIM1; k=${type(kind)}; p=${published(kind)}`

type Answer = ReadonlyArray<ReadonlyArray<string>> | { readonly code: string }

const one = (text: string): Answer => [text.match(/.{1,200}/gs) ?? [""]]

/** The records of each selector. */
const selectors: { readonly [state: string]: (kind: KeyKind) => Answer } = {
  good: (kind) => one(usual(kind)),
  gone: () => ({ code: "ENOTFOUND" }),
  nodata: () => ({ code: "ENODATA" }),
  servfail: () => ({ code: "ESERVFAIL" }),
  slow: () => ({ code: "ETIMEOUT" }),
  refused: () => ({ code: "ECONNREFUSED" }),
  badname: () => ({ code: "EBADNAME" }),
  nothing: () => [],
  empty: () => [[]],
  revoked: (kind) => one(`v=DKIM1; k=${type(kind)}; p=`),
  nop: (kind) => one(`v=DKIM1; k=${type(kind)}`),
  two: (kind) => [[usual(kind)], ["v=DKIM1; p="]],
  twobad: (kind) => [["v=spf1 -all"], [usual(kind)]],
  split: (kind) => [usual(kind).match(/.{1,7}/g) ?? []],
  spaced: (kind) => one(`  v = DKIM1 ;\tk= ${type(kind)};\r\n p=${published(kind).replace(/.{30}/g, "$& \t")} ; `),
  bare: (kind) => one(`k=${type(kind)};p=${published(kind)};`),
  nok: (kind) => one(`v=DKIM1; p=${published(kind)}`),
  pkcs1: (kind) => one(`v=DKIM1; k=${type(kind)}; p=${pkcs1(kind)}`),
  vlast: (kind) => one(`k=${type(kind)}; p=${published(kind)}; v=DKIM1`),
  vlower: (kind) => one(usual(kind).replace("DKIM1", "dkim1")),
  vtwo: (kind) => one(usual(kind).replace("DKIM1", "DKIM2")),
  kupper: (kind) => one(usual(kind).replace(/k=\w+/, (k) => k.toUpperCase().replace("K", "k"))),
  kother: (kind) => one(usual(kind).replace(/k=\w+/, "k=dsa")),
  kswapped: (kind) => one(usual(kind).replace(/k=\w+/, `k=${kind === "ed" ? "rsa" : "ed25519"}`)),
  kempty: (kind) => one(usual(kind).replace(/k=\w+/, "k=")),
  another: (kind) => one(usual(kind === "ed" ? "r1" : "ed")),
  stranger: (kind) => one(usual(kind === "r1" ? "r2" : "r1")),
  hsha1: (kind) => one(`${usual(kind)}; h=sha1`),
  hsha256: (kind) => one(`${usual(kind)}; h=sha1 : SHA256`),
  hempty: (kind) => one(`${usual(kind)}; h=`),
  semail: (kind) => one(`${usual(kind)}; s=email`),
  sstar: (kind) => one(`${usual(kind)}; s=tlsrpt:*`),
  sother: (kind) => one(`${usual(kind)}; s=tlsrpt`),
  sempty: (kind) => one(`${usual(kind)}; s=`),
  ts: (kind) => one(`${usual(kind)}; t=s`),
  ty: (kind) => one(`${usual(kind)}; t=y`),
  tys: (kind) => one(`${usual(kind)}; t=y : S`),
  notes: (kind) => one(`v=DKIM1; n=some notes (a; k=${type(kind)}; zz=1; p=${published(kind)}`),
  foreign: (kind) => one(`v=DKIM1; n=ünïcode; k=${type(kind)}; p=${published(kind)}`),
  twice: (kind) => one(`${usual(kind)}; p=${published(kind)}`),
  holes: (kind) => one(`v=DKIM1;; k=${type(kind)}; p=${published(kind)}`),
  keyonly: (kind) => one(`v=DKIM1; k=${type(kind)}; hello; p=${published(kind)}`),
  upper: (kind) => one(usual(kind).replace("p=", "P=")),
  unpadded: (kind) => one(usual(kind).replace(/=+$/, "")),
  cut: (kind) => one(usual(kind).slice(0, -5)),
  cutmore: (kind) => one(usual(kind).slice(0, -30)),
  longer: (kind) => one(`${usual(kind).replace(/=+$/, "")}AAAA`),
  urlsafe: (kind) => one(usual(kind).replace(/[+/]/g, "-")),
  garbage: () => one("v=DKIM1; k=rsa; p=aGVsbG8gd29ybGQgaGVsbG8gd29ybGQ="),
  html: () => one("<html>404</html>"),
  huge: (kind) => one(`${usual(kind)}; n=${"x".repeat(3_000)}`)
}

/** Variants of a key, as suffixes of its selector. */
export const states = Object.keys(selectors) as [string, ...Array<string>]

const texts: { readonly [name: string]: Answer } = {
  "sender.example": one("v=spf1 ip4:127.0.0.1 ip6:2001:db8::1 -all"),
  "mail.sender.example": one("v=spf1 include:sender.example ~all"),
  "other.example": one("v=spf1 ?all"),
  "broken.example": one("v=spf1 ip4:nonsense -all"),
  "slow.example": { code: "ETIMEOUT" },
  "_dmarc.sender.example": one("v=DMARC1; p=reject; sp=quarantine"),
  "_dmarc.other.example": one("v=DMARC1; p=none; adkim=s; aspf=s"),
  "_dmarc.strict.example": one("v=DMARC1; p=quarantine; adkim=s"),
  "_dmarc.slow.example": { code: "ESERVFAIL" }
}

const find = (name: string): Answer => {
  const [, kind, state = ""] = /^(r1|r2|r5|ed)-(\w+)\._domainkey\./.exec(name) ?? []
  const known = kind === undefined ? texts[name.toLowerCase()] : selectors[state]?.(kind as KeyKind)
  return known ?? { code: "ENOTFOUND" }
}

/** A new error for each failure, because libraries add properties to errors. */
export const ask = (name: string, type: string): Promise<unknown> => {
  const record = type === "TXT" ? find(name) : { code: "ENOTFOUND" }
  return "code" in record
    ? Promise.reject(Object.assign(new Error(`query${type} ${record.code} ${name}`), { code: record.code }))
    : Promise.resolve(record)
}
