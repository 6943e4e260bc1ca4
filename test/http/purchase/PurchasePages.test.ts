import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { customer } from "../../purchase/Shop.ts"
import { TestInlet } from "../../TestInlet.ts"

const success = "/purchase/success"
const cancel = "/purchase/cancel"

/** An order, and the page for it in this status. */
const ordered = Effect.fnUntraced(function* (domain: string, years = 1) {
  const inlet = yield* TestInlet
  const sql = yield* SqlClient.SqlClient
  const { buy } = yield* customer
  const { json } = yield* buy(domain, { years })
  const id = json.order_id as string
  return {
    id,
    domainId: json.domain_id as string,
    page: (path: string, status: string) =>
      sql`UPDATE orders SET status = ${status} WHERE id = ${id}`.pipe(
        Effect.andThen(inlet.call("GET", `${path}?order=${id}`)),
        Effect.map(({ text }) => text)
      )
  }
})

layer(TestInlet.layer({ SERVICE_PUBLIC_URL: "https://inlet.example.com" }), {
  excludeTestServices: true
})("The return page of a checkout", (it) => {
  it.effect("shows the name, term and order number, and that the registration continues by itself", () =>
    Effect.gen(function* () {
      const { id, page } = yield* ordered("page-bought.com", 2)
      const text = yield* page(success, "provisioning")
      assert.include(text, "<h1>page-bought.com is being registered.</h1>")
      assert.include(text, "<dd>2 years</dd>")
      assert.include(text, `<code id="order">${id}</code>`)
      assert.include(text, "the result and continues")
      assert.include(text, `https://inlet.example.com/api/domains/orders/${id} `)
    })
  )

  it.effect("shows the status of the order, failed ones too", () =>
    Effect.gen(function* () {
      const { page } = yield* ordered("page-states.com")
      const said = {
        pending_payment: "page-states.com is waiting for your payment to be confirmed.",
        paid: "page-states.com is being registered.",
        registering: "page-states.com is being registered.",
        completed: "page-states.com is registered.",
        expired: "The order of page-states.com has expired.",
        failed: "page-states.com could not be registered.",
        refunded: "page-states.com could not be registered."
      }
      for (const [status, heading] of Object.entries(said)) {
        assert.include(yield* page(success, status), `<h1>${heading}</h1>`, status)
      }
      assert.include(yield* page(success, "failed"), "The payment is refunded automatically")
    })
  )

  it.effect("shows after a cancelled checkout that nothing was charged, unless it was paid", () =>
    Effect.gen(function* () {
      const { page } = yield* ordered("page-left.com")
      const left = yield* page(cancel, "pending_payment")
      assert.include(left, "<h1>Nothing was charged.</h1>")
      assert.include(left, "page-left.com")
      const paid = yield* page(cancel, "registering")
      assert.include(paid, "<h1>page-left.com is being registered.</h1>")
      assert.notInclude(paid, "Nothing was charged")
    })
  )

  it.effect("shows only name, term and status to the holder of an order number", () =>
    Effect.gen(function* () {
      const { domainId, page } = yield* ordered("page-quiet.com")
      for (const path of [success, cancel]) {
        for (const status of ["pending_payment", "completed", "failed"]) {
          const text = yield* page(path, status)
          assert.notMatch(text, /ak_live_|whsec_|\d\.\d\d\b/)
          assert.notInclude(text, domainId)
        }
      }
    })
  )

  it.effect("is correct without an order number and with an invalid or unknown one", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      for (const query of ["", "?order=", "?order=%3Cb%3E", "?order=1&order=2", `?order=${crypto.randomUUID()}`]) {
        const paid = yield* inlet.call("GET", `${success}${query}`)
        assert.strictEqual(paid.status, 200)
        assert.include(paid.text, "<h1>Your domain is being registered.</h1>")
        assert.notInclude(paid.text, 'id="order"')
        const left = yield* inlet.call("GET", `${cancel}${query}`)
        assert.include(left.text, "<h1>Nothing was charged.</h1>")
      }
    })
  )
})
