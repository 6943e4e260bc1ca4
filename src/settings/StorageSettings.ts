import { Config, Redacted, Schema } from "effect"
import { messageBytes } from "./MailSettings.ts"
import { ownInProduction, production, required } from "./ProcessSettings.ts"
import * as Setting from "./Setting.ts"
import { Count, HttpUrl, Key, PostgresUrl, Secret } from "./SettingText.ts"

const { section, setting } = Setting.section("What is kept")

export { section }

/** The secret of the bucket in docker-compose.yml, which everybody knows. */
const trialSecret = "1".repeat(64)

const givenUrl = setting(
  "DATABASE_URL",
  PostgresUrl,
  required("DATABASE_URL", "postgres://user:password@host:5432/database", Config.succeed(undefined)),
  "PostgreSQL 15 or later",
  "none: embedded Postgres under `DATA_DIR`; required in production"
)

const givenPassword = setting(
  "DATABASE_PASSWORD",
  Secret,
  undefined,
  "password for a `DATABASE_URL` that has none; any characters, without the escapes of a URL"
)

const withPassword = (url: Redacted.Redacted, password: Redacted.Redacted) => {
  const whole = new URL(Redacted.value(url))
  // Setting it escapes what a URL may not have.
  if (whole.password === "") whole.password = Redacted.value(password)
  return Redacted.make(whole.href)
}

const databaseUrl = ownInProduction(
  Config.map(Config.all({ url: givenUrl, password: givenPassword }), ({ password, url }) =>
    url === undefined || password === undefined ? url : withPassword(url, password)
  ),
  (url) => url !== undefined && new URL(Redacted.value(url)).password === "inlet",
  "DATABASE_URL: This password is the one that docker-compose.yml has for trying out; production needs another (POSTGRES_PASSWORD)"
)

const apiConnections = setting(
  "HTTP_DATABASE_CONNECTIONS",
  Count,
  8,
  "connections to `DATABASE_URL` that the API has, beside the 12 of mail and deliveries"
)

const dataDirectory = setting("DATA_DIR", Schema.NonEmptyString, "./data", "folder of what the service keeps on disk")

const rawDirectory = setting(
  "RAW_DIR",
  Schema.NonEmptyString,
  Config.map(dataDirectory, (folder) => `${folder}/raw`),
  "folder of the raw messages; several processes share one",
  "`<DATA_DIR>/raw`"
)

const rawStoreKind = setting(
  "RAW_STORE",
  Schema.Literals(["file", "s3"]),
  "file",
  "where raw messages are kept: `file` in `RAW_DIR`, `s3` in a bucket"
)

const s3Endpoint = setting("S3_ENDPOINT", HttpUrl, undefined, "URL of the S3 store, without the bucket")

const s3Region = setting("S3_REGION", Schema.NonEmptyString, undefined, "region of the bucket, as its store names it")

const s3Bucket = setting(
  "S3_BUCKET",
  Schema.NonEmptyString,
  undefined,
  "bucket of the raw messages, which has to exist"
)

const s3AccessKeyId = setting("S3_ACCESS_KEY_ID", Schema.NonEmptyString, undefined, "id of the key to that bucket")

const s3SecretAccessKey = ownInProduction(
  setting("S3_SECRET_ACCESS_KEY", Secret, undefined, "secret of that key"),
  (secret) => secret !== undefined && Redacted.value(secret) === trialSecret,
  "S3_SECRET_ACCESS_KEY: This secret is the one that docker-compose.yml has for trying out; production needs another"
)

const secretsKey = setting(
  "SECRETS_KEY",
  Key,
  required("SECRETS_KEY", "32 bytes in base64 (openssl rand -base64 32), the same for ever", Config.succeed(undefined)),
  "32 bytes in base64 that webhook secrets are encrypted under",
  "made once in `DATA_DIR`; required in production"
)

const adminToken = setting(
  "ADMIN_TOKEN",
  Secret,
  undefined,
  "bearer token of the operator's routes",
  "made once in `DATA_DIR`; none in production: no such routes"
)

export const database = Config.all({ url: databaseUrl, dataDirectory, apiConnections })

export const rawStore = Config.all({ kind: rawStoreKind, folder: rawDirectory, messageBytes })

export const bucket = Config.all({
  endpoint: s3Endpoint,
  region: s3Region,
  name: s3Bucket,
  accessKeyId: s3AccessKeyId,
  secretAccessKey: s3SecretAccessKey
})

/** What is given, and the folder where development makes the rest once. */
export const secrets = Config.all({ secretsKey, adminToken, dataDirectory, production })
