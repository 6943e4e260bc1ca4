// The entry `inlet-mail/testing`, for test suites.
export * as FakeBilling from "./testing/FakeBilling.ts"
export * as FakeClock from "./testing/FakeClock.ts"
export * as FakeDns from "./testing/FakeDns.ts"
export * as FakeRawStore from "./testing/FakeRawStore.ts"
export * as FakeRegistrar from "./testing/FakeRegistrar.ts"
export * as FakeSigner from "./testing/FakeSigner.ts"
export type { Mood } from "./testing/Mood.ts"
export { TestInlet } from "./testing/TestInlet.ts"
