import { assembleResult, unchangedResult } from "../experiment.js";

export { unchangedResult };