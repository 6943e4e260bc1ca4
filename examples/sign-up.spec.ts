// A Playwright suite. `use` in its configuration has the baseURL of the application, which sends real mail to the
// service of INLET_URL and INLET_API_KEY.
import { expect, test } from "inlet-mail/playwright"

test("a new user confirms the address, and signs in with a code", async ({ inbox, page }) => {
  await page.goto("/sign-up")
  await page.getByLabel("Email").fill(inbox.address)
  await page.getByRole("button", { name: "Sign up" }).click()

  await page.goto(await inbox.link("verify"))
  await page.getByRole("button", { name: "Send me a code" }).click()

  await page.getByLabel("Code").fill(await inbox.code({ subject: "sign in" }))
  await page.getByRole("button", { name: "Sign in" }).click()
  await expect(page.getByText(`Welcome, ${inbox.address}`)).toBeVisible()

  // No other mail was sent.
  await inbox.none(1_000)
})
