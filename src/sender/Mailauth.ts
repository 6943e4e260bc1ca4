import { createRequire } from "node:module"

// The parts of the library that are used: as a whole it holds 10 MB more in each thread, for the logos of BIMI. They are
// loaded at once, for they share modules, and a thread that is stopped between two imports complains of half of one.
const load = createRequire(import.meta.url)

// By its own declarations.
export const { dkimVerify } = load("mailauth/lib/dkim/verify.js") as typeof import("mailauth/lib/dkim/verify.js")
export const { arc, getARChain } = load("mailauth/lib/arc/index.js") as typeof import("mailauth/lib/arc/index.js")
export const { spf } = load("mailauth/lib/spf/index.js") as typeof import("mailauth/lib/spf/index.js")
export const { evaluateDmarc } = load("mailauth/lib/dmarc/index.js") as typeof import("mailauth/lib/dmarc/index.js")
