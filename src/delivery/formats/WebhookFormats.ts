import { Context, Effect, Layer } from "effect"
import { plainFormat } from "../../model/Webhook.ts"
import { Unconfigured } from "../../providers/Configured.ts"
import * as Mailgun from "./Mailgun.ts"
import * as Mandrill from "./Mandrill.ts"
import * as Postmark from "./Postmark.ts"
import * as Raw from "./Raw.ts"
import * as Sendgrid from "./Sendgrid.ts"
import { WebhookFormat } from "./WebhookFormat.ts"

// Only this file knows every format. Other ones are Layers passed to `layerWith`.

type Format = WebhookFormat["Service"]

const builtIn: Readonly<Record<string, Format>> = {
  raw: Raw.format,
  mailgun: Mailgun.format,
  postmark: Postmark.format,
  sendgrid: Sendgrid.format,
  "sendgrid-raw": Sendgrid.rawFormat,
  mandrill: Mandrill.format
}

const of = (formats: ReadonlyMap<string, Format>) => ({
  names: [plainFormat, ...formats.keys()],
  get: (name: string) => formats.get(name)
})

/** The formats that a webhook can have. */
export const WebhookFormats = Context.Reference<{
  /** Every name, `inlet` first. */
  readonly names: ReadonlyArray<string>
  /** The format with this name. Undefined for `inlet` and unknown names. */
  get(name: string): Format | undefined
}>("inlet/delivery/formats/WebhookFormats", { defaultValue: () => of(new Map(Object.entries(builtIn))) })

/** The name of an own format. */
const nameForm = /^[a-z\d](?:[a-z\d-]{0,30}[a-z\d])?$/

/** The built-in formats and these, by their names. */
export const layerWith = <E = never, R = never>(own: Readonly<Record<string, Layer.Layer<WebhookFormat, E, R>>>) =>
  Layer.effect(
    WebhookFormats,
    Effect.gen(function* () {
      const formats = new Map(Object.entries(builtIn))
      for (const [name, layer] of Object.entries(own)) {
        if (!nameForm.test(name)) {
          return yield* new Unconfigured({
            message: `The webhook format ${JSON.stringify(name)} has an invalid name. Use at most 32 small letters, digits and dashes`
          })
        }
        if (name === plainFormat || name in builtIn) {
          return yield* new Unconfigured({
            message: `The webhook format ${name} is built in. Give your own format another name`
          })
        }
        formats.set(name, Context.get(yield* Layer.build(layer), WebhookFormat))
      }
      return of(formats)
    })
  )
