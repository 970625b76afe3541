import { n as readResult, t as ResultError } from "./read2.js";

export { readResult };