import { Effect, Option, Schema } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"

const Targets = Schema.Array(Schema.Struct({ webSocketDebuggerUrl: Schema.String }))

const Reply = Schema.fromJsonString(
  Schema.Struct({
    id: Schema.optionalKey(Schema.Int),
    error: Schema.optionalKey(Schema.Struct({ message: Schema.String })),
    result: Schema.optionalKey(
      Schema.Struct({
        result: Schema.optionalKey(
          Schema.Struct({ objectId: Schema.optionalKey(Schema.String), value: Schema.optionalKey(Schema.Unknown) })
        ),
        objects: Schema.optionalKey(Schema.Struct({ objectId: Schema.String })),
        exceptionDetails: Schema.optionalKey(Schema.Unknown)
      })
    )
  })
)

const decode = Schema.decodeUnknownOption(Reply)

/** What a process retains after a garbage collection. */
const Held = Schema.Struct({
  heapMegabytes: Schema.Finite,
  externalMegabytes: Schema.Finite,
  /** Connections and listening sockets. */
  sockets: Schema.Finite,
  timers: Schema.Finite,
  fibers: Schema.Finite,
  /** The listeners of all event emitters. */
  listeners: Schema.Finite
})

// Runs inside the inspected process. It was started in the project folder, so it loads the same Effect.
const fiberPrototype = `Object.getPrototypeOf(((effect) => effect.runFork(effect.void))(
  process.getBuiltinModule("node:module").createRequire(process.cwd() + "/package.json")("effect").Effect
))`
const emitterPrototype = `process.getBuiltinModule("node:events").EventEmitter.prototype`
const countFibers = "function () { return this.filter((fiber) => fiber._exit === undefined && fiber._stack).length }"
const countListeners = `function () {
  return this.filter((emitter) => emitter._events).reduce((sum, emitter) =>
    sum + emitter.eventNames().reduce((own, name) => own + emitter.listenerCount(name), 0), 0)
}`
const memoryUsage = `(() => {
  const { external, heapUsed } = process.memoryUsage()
  const resources = process.getActiveResourcesInfo()
  const count = (...names) => resources.filter((name) => names.includes(name)).length
  return {
    heapMegabytes: heapUsed / 1e6,
    externalMegabytes: external / 1e6,
    sockets: count("TCPSocketWrap", "TCPServerWrap", "TLSWrap", "PipeWrap"),
    timers: count("Timeout", "Immediate")
  }
})()`

/** Inspects a process started with `--inspect=127.0.0.1:port`, any number of times. */
export const attach = Effect.fnUntraced(function* (port: number) {
  const client = yield* HttpClient.HttpClient
  const [target] = yield* Effect.flatMap(
    client.get(`http://127.0.0.1:${port}/json/list`),
    HttpClientResponse.schemaBodyJson(Targets)
  )
  const socket = yield* Effect.acquireRelease(
    Effect.callback<WebSocket>((resume) => {
      const socket = new WebSocket(target?.webSocketDebuggerUrl ?? "")
      socket.onopen = () => resume(Effect.succeed(socket))
      socket.onerror = () => resume(Effect.die(new Error("The inspector can't be reached")))
    }),
    (socket) => Effect.sync(() => socket.close())
  )
  let id = 0
  const command = (method: string, params: object = {}) =>
    Effect.callback<typeof Reply.Type>((resume) => {
      const own = ++id
      socket.onmessage = ({ data }) => {
        const reply = decode(data)
        if (Option.isSome(reply) && reply.value.id === own) resume(Effect.succeed(reply.value))
      }
      socket.send(JSON.stringify({ id: own, method, params }))
    }).pipe(
      Effect.filterOrElse(
        ({ error, result }) => error === undefined && result?.exceptionDetails === undefined,
        (reply) => Effect.die(new Error(`${method}: ${JSON.stringify(reply)}`))
      ),
      Effect.map(({ result }) => result)
    )

  /** Calls a function with an array of all objects of a prototype. */
  const onAll = Effect.fnUntraced(function* (prototype: string, declaration: string) {
    const found = yield* command("Runtime.evaluate", { expression: prototype, objectGroup: "held" })
    const all = yield* command("Runtime.queryObjects", {
      prototypeObjectId: found?.result?.objectId,
      objectGroup: "held"
    })
    const answer = yield* command("Runtime.callFunctionOn", {
      functionDeclaration: declaration,
      objectId: all?.objects?.objectId,
      returnByValue: true
    })
    yield* command("Runtime.releaseObjectGroup", { objectGroup: "held" })
    return answer?.result?.value
  })

  const held = Effect.gen(function* () {
    const fibers = yield* onAll(fiberPrototype, countFibers)
    const listeners = yield* onAll(emitterPrototype, countListeners)
    yield* command("HeapProfiler.collectGarbage")
    const usage = yield* command("Runtime.evaluate", { expression: memoryUsage, returnByValue: true })
    return yield* Schema.decodeUnknownEffect(Held)({ ...Object(usage?.result?.value), fibers, listeners })
  })
  return { held }
})
