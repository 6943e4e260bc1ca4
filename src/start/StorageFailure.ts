import * as ErrorOrigin from "../ErrorOrigin.ts"
import * as FullDisk from "../files/FullDisk.ts"

/** Returns one line for a folder that the start cannot write, with the settings and the next step. */
export const ofFolder = (error: unknown): string =>
  `DATA_DIR or RAW_DIR: ${ErrorOrigin.messageOf(error)}. ${
    FullDisk.isCause(error) ? FullDisk.remedy : "Name a folder that the user of the service may write in"
  }`

/** The same for a database whose migrations fail. The embedded one is in `DATA_DIR`. */
export const ofMigration = (error: unknown, isEmbedded: boolean): string =>
  `${isEmbedded ? "DATA_DIR" : "DATABASE_URL"}: The database could not be migrated: ${ErrorOrigin.messageOf(error)}${
    FullDisk.isCause(error) ? `. ${FullDisk.remedy}` : ""
  }`
