import { replaceFile, writeResult } from "../report.js";

export { writeResult };