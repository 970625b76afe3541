import { n as writeResult, t as replaceFile } from "./write2.js";

export { writeResult };