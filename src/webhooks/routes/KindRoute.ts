import type { KindName } from "../../model/MailKind.ts"
import type { Route } from "../../model/Webhook.ts"

/** The webhook that takes a mail of this kind to an address that `route` takes. */
export const of = (route: Route, kind: KindName): Pick<Route, "id" | "pattern"> => route.kinds?.[kind] ?? route
