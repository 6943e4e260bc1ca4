import { Config, Redacted, Schema } from "effect"
import { messageBytes } from "./MailSettings.ts"
import { ownInProduction, production, required } from "./ProcessSettings.ts"
import * as Setting from "./Setting.ts"
import { httpUrl, isBase, Key, PostgresUrl, Secret } from "./SettingText.ts"

const { section, setting } = Setting.section("What is kept")

export { section }

/** The public bucket secret of docker-compose.yml. */
const trialSecret = "1".repeat(64)

const givenUrl = setting(
  "DATABASE_URL",
  PostgresUrl,
  required("DATABASE_URL", Config.succeed(undefined)),
  "PostgreSQL 15 or later",
  "none: embedded PostgreSQL in `DATA_DIR`, required in production"
)

const givenPassword = setting(
  "DATABASE_PASSWORD",
  Secret,
  undefined,
  "password for a `DATABASE_URL` without one, unescaped"
)

const withPassword = (url: Redacted.Redacted, password: Redacted.Redacted) => {
  const whole = new URL(Redacted.value(url))
  // The URL setter escapes no %.
  if (whole.password === "") whole.password = encodeURIComponent(Redacted.value(password))
  return Redacted.make(whole.href)
}

const databaseUrl = ownInProduction(
  Config.map(Config.all({ url: givenUrl, password: givenPassword }), ({ password, url }) =>
    url === undefined || password === undefined ? url : withPassword(url, password)
  ),
  (url) => url !== undefined && new URL(Redacted.value(url)).password === "inlet",
  "DATABASE_URL: This is the trial password of docker-compose.yml. Set another POSTGRES_PASSWORD in production"
)

const dataDirectory = setting("DATA_DIR", Schema.NonEmptyString, "./data", "folder of what the service keeps on disk")

const rawDirectory = setting(
  "RAW_DIR",
  Schema.NonEmptyString,
  Config.map(dataDirectory, (folder) => `${folder}/raw`),
  "folder for raw messages, shared by several processes",
  "`<DATA_DIR>/raw`"
)

const rawStoreKind = setting(
  "RAW_STORE",
  Schema.Literals(["file", "s3"]),
  "file",
  "storage of raw messages: `file` in `RAW_DIR`, `s3` in a bucket"
)

const s3Endpoint = setting(
  "S3_ENDPOINT",
  httpUrl("Set S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY").check(isBase),
  undefined,
  "URL of the S3 store, without the bucket"
)

const s3Region = setting("S3_REGION", Schema.NonEmptyString, undefined, "region of the bucket, as its store names it")

const s3Bucket = setting("S3_BUCKET", Schema.NonEmptyString, undefined, "existing bucket for raw messages")

const s3AccessKeyId = setting("S3_ACCESS_KEY_ID", Schema.NonEmptyString, undefined, "id of the key to that bucket")

const s3SecretAccessKey = ownInProduction(
  setting("S3_SECRET_ACCESS_KEY", Secret, undefined, "secret of that key"),
  (secret) => secret !== undefined && Redacted.value(secret) === trialSecret,
  "S3_SECRET_ACCESS_KEY: This is the trial secret of docker-compose.yml. Set another in production"
)

const secretsKey = setting(
  "SECRETS_KEY",
  Key,
  required("SECRETS_KEY", Config.succeed(undefined)),
  "32 bytes in base64 that encrypt webhook secrets",
  "generated in `DATA_DIR`, required in production"
)

/** Characters of a token that nobody guesses. */
const shortestToken = 16

const adminToken = ownInProduction(
  setting(
    "ADMIN_TOKEN",
    Secret,
    undefined,
    `bearer token for the admin routes, of ${shortestToken} or more characters in production`,
    "generated in `DATA_DIR`, none in production: no admin routes"
  ),
  (token) => token !== undefined && Redacted.value(token).length < shortestToken,
  `ADMIN_TOKEN: Expected ${shortestToken} or more characters in production, because it opens every workspace. openssl rand -hex 32 makes a good one`
)

export const database = Config.all({ url: databaseUrl, dataDirectory })

export const rawStore = Config.all({ kind: rawStoreKind, folder: rawDirectory, messageBytes })

export const bucket = Config.all({
  endpoint: s3Endpoint,
  region: s3Region,
  name: s3Bucket,
  accessKeyId: s3AccessKeyId,
  secretAccessKey: s3SecretAccessKey
})

/** Configured secrets, and the folder in which development generates the others. */
export const secrets = Config.all({ secretsKey, adminToken, dataDirectory, production })
