import { createConfig, formatProblems, lintFromString } from "@redocly/openapi-core"
import { Console, Effect } from "effect"
import * as OpenApiDocument from "../src/http/api/OpenApiDocument.ts"

/** Checks the OpenAPI document against the rules of readers and generators. */
Effect.gen(function* () {
  const config = yield* Effect.promise(() =>
    createConfig({
      extends: ["recommended-strict"],
      rules: {
        "operation-operationId": "error",
        "operation-description": "off",
        // Routes such as `/orders/search` are unambiguous: no id is a word.
        "no-ambiguous-paths": "off",
        "no-invalid-media-type-examples": "error",
        "no-unused-components": "error",
        "tag-description": "error",
        "operation-singular-tag": "error",
        "path-params-defined": "error",
        // Monitors call these without a key, and receive no 4xx.
        "operation-4xx-response": "off"
      }
    })
  )
  const source = JSON.stringify(OpenApiDocument.make("https://inlet.example.net"))
  const problems = yield* Effect.promise(() => lintFromString({ source, absoluteRef: "openapi.json", config }))
  if (problems.length === 0) return yield* Console.log("The OpenAPI document has no problems")
  formatProblems(problems, { format: "stylish", totals: { errors: problems.length, warnings: 0, ignored: 0 } })
  yield* Effect.sync(() => {
    process.exitCode = 1
  })
}).pipe(Effect.runPromise)
