import { type Config, Effect, type FileSystem, Layer } from "effect"
import * as Settings from "../../Settings.ts"
import * as AcmeAuthority from "./AcmeAuthority.ts"
import { CertificateAuthority } from "./CertificateAuthority.ts"

type Chosen = Layer.Layer<CertificateAuthority, AcmeAuthority.RootsUnusable | Config.ConfigError, FileSystem.FileSystem>

const bySettings: Chosen = Layer.unwrap(
  Effect.gen(function* () {
    const certificates = yield* Settings.certificates
    const layer: Chosen =
      certificates === undefined
        ? Layer.succeed(CertificateAuthority, { issue: () => Effect.die("No ACME_DIRECTORY is set") })
        : AcmeAuthority.layer(certificates)
    return layer
  })
)

/** The given authority, or that of `ACME_DIRECTORY`. Without the setting nothing asks one. */
export const layerWith = (own?: Layer.Layer<CertificateAuthority>): Chosen => own ?? bySettings
