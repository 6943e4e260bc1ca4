import { assert, describe, it } from "@effect/vitest"
import * as IdleSettings from "../../src/settings/IdleSettings.ts"

describe("A setting that another one has to choose", () => {
  it("is named with what happens without that choice", () => {
    assert.deepStrictEqual(
      IdleSettings.among(["S3_REGION", "S3_BUCKET", "STRIPE_SECRET_KEY", "RSPAMD_URL", "HTTP_PORT"]),
      [
        "S3_BUCKET, S3_REGION are set without RAW_STORE=s3, so raw messages go to RAW_DIR",
        "STRIPE_SECRET_KEY is set without BILLING_PROVIDER=stripe, so domains are paid with play money",
        "RSPAMD_URL is set without MAIL_SCANNER=rspamd, so mail is not scanned"
      ]
    )
  })

  it("is not named if the choice is made, either way", () => {
    assert.deepStrictEqual(IdleSettings.among(["S3_BUCKET", "RAW_STORE", "RSPAMD_URL", "MAIL_SCANNER"]), [])
  })
})
