export type Params = Readonly<Record<string, string>>

export interface Answer {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Whether the endpoint had started, so that the idempotency key repeats this answer. */
  readonly kept: boolean
}

/** https://docs.stripe.com/api/errors: the attributes of an error. */
interface Problem {
  readonly type: "api_error" | "idempotency_error" | "invalid_request_error"
  readonly message: string
  readonly code?: string
  readonly param?: string
}

export const done = (body: unknown): Answer => ({ status: 200, body, kept: true })

export const kept = (answer: Answer): Answer => ({ ...answer, kept: true })

export const refusal = (status: number, error: Problem): Answer => ({
  status,
  body: {
    error: {
      ...error,
      ...(error.code === undefined
        ? {}
        : { doc_url: `https://stripe.com/docs/error-codes/${error.code.replaceAll("_", "-")}` })
    }
  },
  kept: false
})

export const invalid = (problem: Omit<Problem, "type">) => refusal(400, { type: "invalid_request_error", ...problem })

// https://docs.stripe.com/error-codes#resource-missing
export const noSuch = (kind: string, id: string, param: string) =>
  refusal(404, { type: "invalid_request_error", code: "resource_missing", param, message: `No such ${kind}: '${id}'` })

export const broken = refusal(500, {
  type: "api_error",
  message: "An unknown error occurred. If you have any questions, we can help at https://support.stripe.com/."
})

/** A 500 that the idempotency key repeats. Stripe tells its libraries not to retry it. */
export const brokenForGood: Answer = { ...broken, headers: { "stripe-should-retry": "false" }, kept: true }

/** https://docs.stripe.com/api/authentication: a quoted key is masked except for its ends. */
export const unauthorized = (authorization: string | undefined, secretKey: string) => {
  const key = /^Bearer (.+)$/.exec(authorization ?? "")?.[1]
  if (key === secretKey) return undefined
  return refusal(401, {
    type: "invalid_request_error",
    message:
      key === undefined
        ? "You did not provide an API key. You need to provide your API key in the Authorization header, using Bearer auth (e.g. 'Authorization: Bearer YOUR_SECRET_KEY'). See https://stripe.com/docs/api#authentication for details, or we can help at https://support.stripe.com/."
        : `Invalid API Key provided: ${key.slice(0, 8)}${"*".repeat(Math.max(0, key.length - 12))}${key.slice(-4)}`
  })
}

/** The metadata, or another hash, of the parameters. */
export const hashIn = (params: Params, name: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(params).flatMap(([key, value]) =>
      key.startsWith(`${name}[`) && key.endsWith("]") ? [[key.slice(name.length + 1, -1), value]] : []
    )
  )

/** Returns the fault of a value, if any. */
type Check = (value: string) => Omit<Problem, "type" | "param"> | undefined

// https://docs.stripe.com/error-codes#parameter-invalid-integer
const integer: Check = (value) =>
  /^\d{1,8}$/.test(value) ? undefined : { code: "parameter_invalid_integer", message: `Invalid integer: ${value}` }

const text =
  (most: number): Check =>
  (value) =>
    value.length <= most
      ? undefined
      : { message: `Invalid string: ${value.slice(0, 20)}...; must be at most ${most} characters` }

// https://docs.stripe.com/error-codes#url-invalid
const webUrl: Check = (value) =>
  /^https?:$/.test(URL.parse(value)?.protocol ?? "") && value.length <= 5_000
    ? undefined
    : { code: "url_invalid", message: "Not a valid URL" }

const oneOf =
  (...values: ReadonlyArray<string>): Check =>
  (value) =>
    values.includes(value) ? undefined : { message: `Invalid value: must be one of ${values.join(", ")}` }

const currency: Check = (value) =>
  /^(usd|eur|gbp)$/i.test(value) ? undefined : { message: `Invalid currency: ${value}` }

// https://docs.stripe.com/api/metadata: keys up to 40 characters, values up to 500.
const metadata = [/^(payment_intent_data\[metadata\]|metadata)\[[^[\]]{1,40}\]$/, text(500)] as const

/** Parameters of https://docs.stripe.com/api/checkout/sessions/create for the sale of one item. */
export const sessionParameters: ReadonlyArray<readonly [RegExp, Check]> = [
  [/^mode$/, oneOf("payment", "setup", "subscription")],
  [/^(success|cancel)_url$/, webUrl],
  [/^client_reference_id$/, text(200)],
  [/^adaptive_pricing\[enabled\]$/, oneOf("true", "false")],
  [/^line_items\[\d+\]\[quantity\]$/, integer],
  [/^line_items\[\d+\]\[price_data\]\[currency\]$/, currency],
  [/^line_items\[\d+\]\[price_data\]\[unit_amount\]$/, integer],
  [/^line_items\[\d+\]\[price_data\]\[product_data\]\[name\]$/, text(250)],
  metadata
]

/** Parameters of https://docs.stripe.com/api/refunds/create for the refund of a payment. */
export const refundParameters: ReadonlyArray<readonly [RegExp, Check]> = [
  [/^payment_intent$/, text(255)],
  [/^amount$/, integer],
  [/^reason$/, oneOf("duplicate", "fraudulent", "requested_by_customer")],
  [/^metadata\[[^[\]]{1,40}\]$/, text(500)]
]

export const wrongIn = (params: Params, known: ReadonlyArray<readonly [RegExp, Check]>) => {
  for (const [param, value] of Object.entries(params)) {
    const check = known.find(([name]) => name.test(param))?.[1]
    // https://docs.stripe.com/error-codes#parameter-unknown
    if (check === undefined) {
      return invalid({ code: "parameter_unknown", param, message: `Received unknown parameter: ${param}` })
    }
    // https://docs.stripe.com/error-codes#parameter-invalid-empty
    if (value === "") {
      return invalid({
        code: "parameter_invalid_empty",
        param,
        message: `You passed an empty string for '${param}'. We assume empty values are an attempt to unset a parameter; however '${param}' cannot be unset. You should remove '${param}' from your request or supply a non-empty value.`
      })
    }
    const problem = check(value)
    if (problem !== undefined) return invalid({ param, ...problem })
  }
  return undefined
}

// https://docs.stripe.com/error-codes#parameter-missing
export const missingIn = (params: Params, required: ReadonlyArray<string>) => {
  const param = required.find((name) => params[name] === undefined)
  return param === undefined
    ? undefined
    : invalid({ code: "parameter_missing", param, message: `Missing required param: ${param}.` })
}
