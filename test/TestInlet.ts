import { ConfigProvider, Context, Layer } from "effect"
import type { FakeRegistrar } from "../src/testing/FakeRegistrar.ts"
import * as Public from "../src/testing/TestInlet.ts"
import * as TestDatabase from "./TestDatabase.ts"

/** The variables that select the suite's database come from the real environment. */
export const database = TestDatabase.layer.pipe(Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv())))

/** `TestInlet` of `inlet-mail/testing` on a database of the suite. */
export class TestInlet extends Context.Service<TestInlet, Public.TestInlet["Service"]>()("inlet/test/TestInlet") {
  /**
   * `settings` override those of a test. Ports are free ones, and the folder is temporary. No request rate, because
   * tests look at lists more often than any client.
   */
  static readonly layer = (settings: Readonly<Record<string, string>> = {}, registrar?: FakeRegistrar["layer"]) =>
    Layer.effect(TestInlet, Public.TestInlet).pipe(
      Layer.provideMerge(
        Public.TestInlet.layer({
          settings: { HTTP_REQUESTS_PER_SECOND: "0", ...settings },
          database,
          ...(registrar === undefined ? {} : { registrar })
        })
      )
    )
}
