import { a as runToExit, i as exitCodes, n as exitCodeOfResult, o as worstExitCode, r as exitCodeOfVerdict, t as exitCodeOfError } from "./exit2.js";

export { exitCodes, runToExit };