import { Context } from "effect"

/** Whether read keys may call an endpoint. False by default. */
export const ReadKeys = Context.Reference<boolean>("inlet/http/ReadKeys", { defaultValue: () => false })

/** Annotates an endpoint that shows mail or leads to it, and changes nothing. */
export const allowed = Context.make(ReadKeys, true)
