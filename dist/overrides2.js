import { a as parseMaxRuns, i as parseEach, n as applyOverrides, o as parsePriority, r as overrideGate, s as parseSeed, t as UsageError } from "./overrides.js";

export { UsageError };