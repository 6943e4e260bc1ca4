export { free, isAnswered } from "../src/testing/Ports.ts"
