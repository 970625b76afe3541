import { recordTo, recordable } from "../recording.js";

export { recordTo };