import { useSignal } from "@preact/signals"
import { call } from "../api/Api.ts"
import type { Order, SearchResult } from "../api/Contract.ts"
import { useLoaded } from "../api/Loaded.ts"
import { refreshDomains } from "../api/Session.ts"
import { useAction } from "../frame/Action.ts"
import { announce } from "../frame/Announcer.ts"
import { Confirm, Problem } from "../frame/Dialog.tsx"
import { counted } from "../frame/Figures.ts"
import { Table } from "../frame/Table.tsx"
import { Tag } from "../frame/Tag.tsx"
import { Time } from "../frame/Time.tsx"

const dollars = (cents: number) => `$${(cents / 100).toFixed(2)}`

/** Searches for a domain and buys it, with the wallet or a checkout. */
export const BuyDomain = () => {
  const searching = useAction()
  const buying = useAction()
  const words = useSignal("")
  const results = useSignal<ReadonlyArray<SearchResult> | undefined>(undefined)
  const chosen = useSignal<SearchResult | undefined>(undefined)
  const orders = useLoaded("orders", (signal) => call("GET /api/domains/orders", { signal }))
  const wallet = useLoaded("wallet", (signal) => call("GET /api/domains/wallet", { signal }))

  const search = () =>
    searching.run(async () => {
      results.value = undefined
      results.value = (await call("GET /api/domains/search", { query: { q: words.value.trim() } })).results
      announce(counted(results.value.length, "result"))
    })
  const buy = (result: SearchResult) =>
    buying.run(async () => {
      const order = await call("POST /api/domains/purchase", { body: { domain: result.domain, years: 1 } })
      chosen.value = undefined
      announce(`Order ${order.status}`)
      await Promise.all([orders.reload(), wallet.reload(), refreshDomains()])
    })
  const balance = wallet.value.value?.balance_cents

  return (
    <section class="card">
      <h2>Buy a domain</h2>
      <form
        class="inline"
        onSubmit={(event) => {
          event.preventDefault()
          void search()
        }}
      >
        <label>
          <span class="visually-hidden">Name</span>
          <input
            type="search"
            required
            placeholder="my-agent"
            value={words.value}
            onInput={({ currentTarget }) => {
              words.value = currentTarget.value
            }}
          />
        </label>
        <button type="submit" disabled={searching.isRunning.value}>
          Search
        </button>
      </form>
      {balance !== undefined && <p class="note">Wallet: {dollars(balance)}</p>}
      <Problem message={searching.error.value} />
      {results.value !== undefined && (
        <Table
          rows={results.value}
          keyOf={({ domain }) => domain}
          columns={[
            { head: "Domain", cell: ({ domain }) => domain },
            {
              head: "A year",
              isAmount: true,
              cell: ({ price_cents }) => (price_cents === null ? "–" : dollars(price_cents))
            },
            {
              head: "Buy",
              isHeadHidden: true,
              cell: (result) =>
                result.available && result.price_cents !== null ? (
                  <button
                    type="button"
                    class="small"
                    aria-label={`Buy ${result.domain}`}
                    onClick={() => {
                      chosen.value = result
                    }}
                  >
                    Buy
                  </button>
                ) : (
                  // The API does not tell a taken name from one that no registrar quoted or sells.
                  <span class="soft">not available now</span>
                )
            }
          ]}
        />
      )}
      <Orders orders={orders.value.value?.orders ?? []} />
      {chosen.value !== undefined && (
        <Confirm
          title={`Buy ${chosen.value.domain}?`}
          verb="Buy"
          isRunning={buying.isRunning.value}
          error={buying.error.value}
          onConfirm={() => chosen.value !== undefined && void buy(chosen.value)}
          onClose={() => {
            chosen.value = undefined
          }}
        >
          <p>
            {dollars(chosen.value.price_cents ?? 0)} for a year. Inlet registers the domain and publishes its DNS
            records.
          </p>
        </Confirm>
      )}
    </section>
  )
}

/** Checks that a checkout URL is http or https, because a link could otherwise run a script. */
const isCheckout = (url: string) => /^https?:$/.test(URL.parse(url)?.protocol ?? "")

const Orders = ({ orders }: { readonly orders: ReadonlyArray<Order> }) =>
  orders.length === 0 ? null : (
    <>
      <h3>Orders</h3>
      <Table
        rows={orders}
        keyOf={({ order_id }) => order_id}
        columns={[
          {
            head: "Domain",
            cell: ({ domain, domain_id }) =>
              domain_id === null ? domain : <a href={`/console/domains/${domain_id}`}>{domain}</a>
          },
          { head: "Status", cell: (order) => <OrderStatus order={order} /> },
          { head: "Price", isAmount: true, cell: ({ price_cents }) => dollars(price_cents) },
          { head: "Ordered", cell: ({ created_at }) => <Time at={created_at} /> }
        ]}
      />
    </>
  )

const OrderStatus = ({ order: { checkout_url, failure, status } }: { readonly order: Order }) => (
  <>
    <Tag tone={status === "completed" ? "good" : /failed|refunded|expired/.test(status) ? "bad" : "wait"}>
      {status.replace("_", " ")}
    </Tag>
    {status === "pending_payment" && checkout_url !== null && isCheckout(checkout_url) && (
      <>
        {" "}
        <a href={checkout_url} rel="noreferrer" target="_blank">
          Pay
        </a>
      </>
    )}
    {failure !== null && <p class="note">{failure}</p>}
  </>
)
