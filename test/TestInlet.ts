import { ConfigProvider, Context, Layer } from "effect"
import type { FakeRegistrar } from "../src/testing/FakeRegistrar.ts"
import * as Public from "../src/testing/TestInlet.ts"
import * as TestDatabase from "./TestDatabase.ts"

/** What names the suite's own database is read from the real environment. */
export const database = TestDatabase.layer.pipe(Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv())))

/** `TestInlet` of `inlet-mail/testing`, on a database of the suite's. */
export class TestInlet extends Context.Service<TestInlet, Public.TestInlet["Service"]>()("inlet/test/TestInlet") {
  /** `settings` are added to, and win over, those of a test. Ports are free ones, the folder is temporary. */
  static readonly layer = (settings: Readonly<Record<string, string>> = {}, registrar?: FakeRegistrar["layer"]) =>
    Layer.effect(TestInlet, Public.TestInlet).pipe(
      Layer.provideMerge(
        Public.TestInlet.layer({ settings, database, ...(registrar === undefined ? {} : { registrar }) })
      )
    )
}
