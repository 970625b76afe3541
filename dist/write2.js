import { n as writeResult, t as replaceFile } from "./write.js";

export { writeResult };