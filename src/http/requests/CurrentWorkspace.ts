import { Context } from "effect"
import type { SessionId } from "../../model/ConsoleSession.ts"
import type { Opened } from "../../workspaces/Workspaces.ts"

/** The workspace whose API key or console cookie this request carries, and what that key may do. */
export class CurrentWorkspace extends Context.Service<
  CurrentWorkspace,
  Opened & {
    /** The console session of a request with a cookie. */
    readonly sessionId?: SessionId
  }
>()("inlet/http/CurrentWorkspace") {}
