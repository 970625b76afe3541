import { i as runToExit, n as exitCodeOfResult, r as exitCodes, t as exitCodeOfError } from "./exit2.js";

export { exitCodes, runToExit };