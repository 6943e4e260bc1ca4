import type { SqlClient } from "effect/sql"
import { takingMail } from "../../model/Domain.ts"

const states = takingMail.map((status) => `'${status}'`).join(", ")

/** The condition that a domain takes mail. The states are no parameters: the statements of each mail are prepared once. */
export const condition = (sql: SqlClient.SqlClient) => sql.literal(`domains.status IN (${states})`)
