import { Context, Effect, Layer } from "effect"
import { FindMyWay, HttpRouter } from "effect/http"
import * as RequestPath from "./requests/RequestPath.ts"

/** The methods of each path, for `405` answers. The router only reports a missing route. */
export class AllowedMethods extends Context.Service<
  AllowedMethods,
  {
    /** Empty for an unknown path. */
    of(url: string): ReadonlyArray<string>
  }
>()("inlet/http/AllowedMethods") {
  /** Wraps a router to record its routes. */
  static readonly layer = Layer.effectContext(
    Effect.map(HttpRouter.HttpRouter, (router) => {
      const paths = FindMyWay.make<Set<string>>(RequestPath.matching)
      const known = new Map<string, Set<string>>()

      const note = ({ method, path }: Pick<HttpRouter.Route, "method" | "path">) => {
        const methods = known.get(path) ?? new Set()
        if (!known.has(path)) paths.on("GET", path, methods)
        known.set(path, methods.add(method))
        // Every GET answers HEAD.
        if (method === "GET") methods.add("HEAD")
      }

      const noting = HttpRouter.HttpRouter.of({
        ...router,
        add: (method, path, handler, options) => {
          note({ method, path })
          return router.add(method, path, handler, options)
        },
        addAll: (routes) => {
          routes.forEach(note)
          return router.addAll(routes)
        }
      })
      return Context.make(HttpRouter.HttpRouter, noting).pipe(
        Context.add(AllowedMethods, { of: (url) => [...(paths.find("GET", url)?.handler ?? [])] })
      )
    })
  )
}
