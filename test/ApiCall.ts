export { type Answer, type CallOptions, call } from "../src/testing/ApiCall.ts"
