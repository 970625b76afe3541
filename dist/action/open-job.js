import { configAt, openJob } from "./open-job2.js";

export { configAt, openJob };