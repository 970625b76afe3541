import { n as explained, r as readResult, t as ResultError } from "./read2.js";

export { explained, readResult };