import { i as summary, n as findingText, r as listTestbeds, t as checkTestbed } from "./run-testbeds2.js";

export { checkTestbed, listTestbeds };