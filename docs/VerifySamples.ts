import { languages } from "../src/console/webhook/Languages.ts"

const fences: Readonly<Record<string, string>> = {
  Python: "python",
  Ruby: "ruby",
  Go: "go",
  PHP: "php",
  Java: "java"
}

/** Renders the end of docs/how-to/verify-webhooks.md: the code of the console for languages other than JavaScript. */
export const render = (): string => `## In other languages

The page "Webhook" of the console shows the same code. It reads the secret from \`INLET_WEBHOOK_SECRET\`, and takes the raw body and the headers. Tests run all of it except Java.
${languages
  .filter(({ name }) => fences[name] !== undefined)
  .map(({ code, name }) => `\n### ${name}\n\n\`\`\`${fences[name]}\n${code}\n\`\`\`\n`)
  .join("")}`

/** The page with a new end. */
export const within = (page: string): string => page.replace(/## In other languages\n[\s\S]*$/, () => render())
