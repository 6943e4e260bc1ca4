import { createRequire } from "node:module"

// The used parts of the library, because the whole takes 10 MB more in each thread, for BIMI logos. They are loaded
// at once, because they share modules, and terminating a thread between two imports causes an error.
const load = createRequire(import.meta.url)

// Typed by the library's own declarations.
export const { dkimVerify } = load("mailauth/lib/dkim/verify.js") as typeof import("mailauth/lib/dkim/verify.js")
export const { arc, getARChain } = load("mailauth/lib/arc/index.js") as typeof import("mailauth/lib/arc/index.js")
export const { spf } = load("mailauth/lib/spf/index.js") as typeof import("mailauth/lib/spf/index.js")
export const { evaluateDmarc } = load("mailauth/lib/dmarc/index.js") as typeof import("mailauth/lib/dmarc/index.js")
