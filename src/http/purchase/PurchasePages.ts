import { Effect, Layer, Schema } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { OrderId } from "../../model/Order.ts"
import { isRefundRejected, type OrderRow, Orders } from "../../purchase/Orders.ts"
import * as Settings from "../../Settings.ts"
import * as PageFrame from "../pages/PageFrame.ts"

const { escape } = PageFrame

/** The default return pages of a checkout, for the paying person. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const orders = yield* Orders
    const { publicUrl } = yield* Settings.http
    const url = publicUrl

    /** The holder of an order id sees domain, years and state only. */
    const asked = Effect.gen(function* () {
      const { order } = yield* HttpServerRequest.ParsedSearchParams
      // The page is valid without the order, too.
      return isOrderId(order) ? yield* Effect.orElseSucceed(orders.find(order), () => undefined) : undefined
    })

    const add = (path: `/${string}`, page: (order: OrderRow | undefined, url: string) => string) =>
      HttpRouter.add(
        "GET",
        path,
        Effect.map(asked, (order) => PageFrame.answer(page(order, url)))
      )
    return Layer.merge(add("/purchase/success", success), add("/purchase/cancel", cancel))
  })
)

const isOrderId = Schema.is(OrderId)

interface Words {
  readonly kicker: string
  readonly heading: string
  readonly lead: string
}

const givenBack =
  "The payment is refunded automatically to the same account. A bank may take up to ten days to show it."

const rejected =
  "Your bank rejected the refund of the payment. Give the order number to the sender of the payment link, who can ask for it."

/** The state of the order, for the person who paid. */
const paidWords = (order: OrderRow | undefined): Words => {
  const name = order?.name ?? "Your domain"
  const goesOn =
    "Payment received. You can close this page. The agent or developer who sent you here sees the result and continues."
  switch (order?.status) {
    case "pending_payment":
      return {
        kicker: "Thank you",
        heading: `${name} is waiting for your payment to be confirmed.`,
        lead: `That takes a moment. Then it is registered. ${goesOn}`
      }
    case undefined:
    case "paid":
    case "registering":
    case "provisioning":
      return { kicker: "Payment received", heading: `${name} is being registered.`, lead: goesOn }
    case "completed":
      return { kicker: "Payment received", heading: `${name} is registered.`, lead: goesOn }
    case "expired":
      return {
        kicker: "Not paid",
        heading: `The order of ${name} has expired.`,
        lead: "The order was not paid in time. Nothing was charged, and no domain was registered."
      }
    case "failed":
    case "refunded":
      return {
        kicker: "Not registered",
        heading: `${name} could not be registered.`,
        lead: isRefundRejected(order) ? rejected : givenBack
      }
  }
}

const success = (order: OrderRow | undefined, url: string): string => {
  const words = paidWords(order)
  return told({
    title: words.kicker,
    words,
    rest: `${bought(order)}
${advice(order)}
${developers([
  {
    heading: "Look at the order",
    text: "It goes from <code>paid</code> to <code>completed</code>, and then has its <code>domain_id</code>. An error appears in <code>failure</code>.",
    line: getOrder(order, url)
  },
  {
    heading: "Set the webhook",
    text: "MX, TXT and SPF records are published automatically. You can do this once the domain is <code>mx_pending</code>.",
    line: `curl -s -X PATCH ${url}/api/domains/$DOMAIN_ID/delivery \\
  -H "Authorization: Bearer $API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"webhookUrl": "https://your-agent.example/inbound"}'`
  }
])}`
  })
}

const cancel = (order: OrderRow | undefined, url: string): string => {
  const isOpen = order === undefined || order.status === "pending_payment"
  // The order was paid meanwhile.
  if (!isOpen && order.status !== "expired") return success(order, url)
  return told({
    title: "Nothing was charged",
    words: {
      kicker: "Checkout left",
      heading: "Nothing was charged.",
      lead: "You left the checkout before paying. There is nothing to undo."
    },
    rest: `${bought(order)}
<section><h2>Changed your mind?</h2>
<p>${
      isOpen
        ? "Your payment link works for a day. After that, ask its sender for a new one."
        : "Your payment link has expired. Ask its sender for a new one."
    }</p></section>
${developers([
  {
    heading: "Pay the same order",
    text: "While it is <code>pending_payment</code>, its <code>checkout_url</code> works.",
    line: getOrder(order, url)
  },
  {
    heading: "Or order again",
    text: "Once the order is <code>expired</code>, or for another name at any time.",
    line: `curl -s -X POST ${url}/api/domains/purchase \\
  -H "Authorization: Bearer $API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"domain": "${order?.name ?? "your-agent.com"}", "years": ${order?.years ?? 1}}'`
  }
])}`
  })
}

const told = ({ rest, title, words }: { readonly title: string; readonly words: Words; readonly rest: string }) =>
  PageFrame.render({
    title: `${title} · Inlet`,
    body: `<main class="told" id="main" tabindex="-1">
<p class="kicker">${escape(words.kicker)}</p>
<h1>${escape(words.heading)}</h1>
<p class="lead">${escape(words.lead)}</p>
${rest}
</main>`
  })

/** The next step if the order stalls. The payer sees only this page. */
const advice = (order: OrderRow | undefined) => {
  switch (order?.status) {
    case "expired":
    case "failed":
    case "refunded":
      return `<section><h2>What now?</h2>
<p>Give the order number above to the sender of the payment link. They can order again, or choose another domain.</p></section>`
    default:
      return `<section><h2>If nothing happens</h2>
<p>${
        order?.status === "completed"
          ? "A new domain is reachable everywhere after some minutes."
          : "The registration takes some minutes. Reload this page to see its state. If it fails, the payment is refunded automatically."
      } If it does not go on within an hour, ${order === undefined ? "tell" : "give the order number above to"} the sender of the payment link${order === undefined ? "" : ", who can look it up"}.</p></section>`
  }
}

/** The item of the order, and its number to copy. */
const bought = (order: OrderRow | undefined) =>
  order === undefined
    ? ""
    : `<dl class="fields bought">
<div><dt>Domain name</dt><dd>${escape(order.name)}</dd></div>
<div><dt>For</dt><dd>${order.years === 1 ? "1 year" : `${order.years} years`}</dd></div>
<div><dt>Order number</dt><dd class="copied"><code id="order">${order.id}</code><button type="button" data-copy="order" aria-label="Copy the order number">Copy</button></dd></div>
</dl>`

const getOrder = (
  order: OrderRow | undefined,
  url: string
) => `curl -s ${url}/api/domains/orders/${order?.id ?? "$ORDER_ID"} \\
  -H "Authorization: Bearer $API_KEY"`

/** Details that the payer need not read. `text` is HTML, `line` is text. */
const developers = (
  steps: ReadonlyArray<{ readonly heading: string; readonly text: string; readonly line: string }>
) => `<details class="developers"><summary>For the developer</summary>
<ol class="steps">${steps
  .map(
    ({ heading, line, text }, index) => `<li><h3>${heading}</h3><p>${text}</p>
<div class="code"><pre tabindex="0"><code id="step-${index}">${escape(line)}</code></pre><button type="button" data-copy="step-${index}" aria-label="Copy: ${heading}">Copy</button></div></li>`
  )
  .join("")}</ol></details>`
