import { recordedTestbed } from "../recording.js";

export { recordedTestbed };