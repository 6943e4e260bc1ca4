import { documented } from "./Settings.ts"

/** Every setting as a row of the README's table. */
export const table = (): string =>
  [
    "| setting | default | meaning |",
    "| --- | --- | --- |",
    ...documented.map(({ fallback, meaning, name }) => `| \`${name}\` | ${fallback} | ${meaning} |`)
  ].join("\n")

const plain = (text: string) => text.replaceAll("`", "")

/** .env.example: every setting, commented out. */
export const example = (): string =>
  [
    "# Settings of Inlet. Copy this file to .env, take the # away from what you set, and run npm run start:env.",
    ...documented.map(({ fallback, meaning, name }) => `# ${plain(meaning)}\n# Default: ${plain(fallback)}\n#${name}=`)
  ]
    .join("\n\n")
    .concat("\n")
