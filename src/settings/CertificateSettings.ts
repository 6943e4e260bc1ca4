import { isIP } from "node:net"
import { Config, ConfigProvider, Schema } from "effect"
import { parse } from "tldts"
import * as Mail from "./MailSettings.ts"
import * as Setting from "./Setting.ts"
import { Flag, HttpUrl } from "./SettingText.ts"

const { section, setting } = Setting.section("The certificate of the mail server")

export { section }

const directory = setting(
  "ACME_DIRECTORY",
  HttpUrl,
  undefined,
  "directory URL of an ACME certificate authority, which then issues the certificate of `MX_HOST`. Let's Encrypt: `https://acme-v02.api.letsencrypt.org/directory`",
  "none: `SMTP_TLS_CERT`, or self-signed at start"
)

const termsAgreed = setting(
  "ACME_TERMS_AGREED",
  Flag,
  false,
  "`true` agrees to the terms of service of the certificate authority. `ACME_DIRECTORY` requires it"
)

const email = setting(
  "ACME_EMAIL",
  Schema.String.check(Schema.isPattern(/^[^\s@]+@[^\s@]+$/, { message: "Expected an email address" })),
  undefined,
  "address at which the certificate authority can reach you"
)

const challenge = setting(
  "ACME_CHALLENGE",
  Schema.Literals(["http", "dns"]).annotate({ message: "Expected http or dns" }),
  "http",
  "how the certificate authority confirms `MX_HOST`. `http` needs its port 80 to reach `HTTP_PORT`. `dns` needs a configured registrar that holds its domain"
)

const caFile = setting(
  "ACME_CA_FILE",
  Schema.NonEmptyString,
  undefined,
  "PEM file with further roots that are trusted for `ACME_DIRECTORY`. Set it for a private certificate authority",
  "those of Node"
)

const refused = (message: string) => Config.fail(new ConfigProvider.SourceError({ message }))

export const isLoopback = (host: string) =>
  host === "localhost" || host === "[::1]" || (isIP(host) === 4 && host.startsWith("127."))

/** Whether a public certificate authority can issue for the name. */
const isPublic = (host: string) => parse(host, { allowPrivateDomains: false }).isIcann === true

/** The settings for ordering certificates. Undefined without `ACME_DIRECTORY`. */
export const certificates = Config.flatMap(
  Config.all({ directory, termsAgreed, email, challenge, caFile, smtp: Mail.smtp }),
  ({ caFile, challenge, directory, email, smtp, termsAgreed }) => {
    if (directory === undefined) return Config.succeed(undefined)
    const { hostname, protocol } = new URL(directory)
    const { mxHost, tlsCertificate, tlsKey } = smtp
    if (protocol !== "https:" && !isLoopback(hostname)) {
      return refused("ACME_DIRECTORY: Expected an https URL. Plain http is for a server on this machine only")
    }
    if (tlsCertificate !== undefined || tlsKey !== undefined) {
      return refused("ACME_DIRECTORY: SMTP_TLS_CERT and SMTP_TLS_KEY are set too. Remove either them or ACME_DIRECTORY")
    }
    if (!termsAgreed) {
      return refused(
        "ACME_TERMS_AGREED: Missing beside ACME_DIRECTORY. Read the terms of the certificate authority, and set it to true"
      )
    }
    if (caFile === undefined && !isLoopback(hostname) && !isPublic(mxHost)) {
      return refused(
        `MX_HOST: ${mxHost} is not a public name, so no certificate authority issues a certificate for it. Set a name in your domain, or ACME_CA_FILE for a private authority`
      )
    }
    return Config.succeed({ directory, email, challenge, caFile, mxHost })
  }
)
