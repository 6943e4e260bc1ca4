import { documented, sections } from "../src/Settings.ts"
import type { Documented } from "../src/settings/Setting.ts"

/** The ten settings of a newcomer. The README lists these, and docs/settings.md lists all. */
const first = [
  "NODE_ENV",
  "HTTP_PORT",
  "SMTP_PORT",
  "DATABASE_URL",
  "DATA_DIR",
  "SERVICE_PUBLIC_URL",
  "PLATFORM_DOMAIN",
  "SECRETS_KEY",
  "MAX_EMAILS_PER_DAY",
  "RETENTION_DAYS"
]

const table = (settings: ReadonlyArray<Documented>) =>
  [
    "| setting | default | meaning |",
    "| --- | --- | --- |",
    ...settings.map(({ fallback, meaning, name }) => `| \`${name}\` | ${fallback} | ${meaning} |`)
  ].join("\n")

/** Renders the table of the README. */
export const firstTable = (): string => table(first.flatMap((one) => documented.filter(({ name }) => name === one)))

/** Renders docs/settings.md: every setting as a row, by section. */
export const page = (): string => `# Settings

Settings are environment variables, read once at start. An invalid one stops the start with a line that names it. [.env.example](../.env.example) lists all: copy it to \`.env\`, edit it, and start with \`npm run start:env\`, or with the package \`npx inlet-mail start --env-file .env\`. Inlet reads no \`.env\` by itself. [Run Inlet in production](how-to/run-in-production.md) names those that production requires.

A duration is a number with \`ms\`, \`s\`, \`m\`, \`h\` or \`d\`. \`npm run docs\` generates this page from \`src/settings\`.

${sections
  .map(
    ({ settings, title }) => `## ${title}

${table(settings)}`
  )
  .join("\n\n")}
`

const plain = (text: string) => text.replaceAll("`", "")

/** Renders .env.example: every setting, commented out. */
export const example = (): string =>
  [
    "# Settings of Inlet. Copy this file to .env, uncomment and edit what you need, and run npm run start:env.\n# With the package: npx inlet-mail start --env-file .env",
    ...documented.map(({ fallback, meaning, name }) => `# ${plain(meaning)}\n# Default: ${plain(fallback)}\n#${name}=`)
  ]
    .join("\n\n")
    .concat("\n")
