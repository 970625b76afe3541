import { l as median$1 } from "./student.js";

// src/stats/summary.ts
/** The middle value, or the mean of the two in the middle; 0 where there is none. */
const median = (values) => values.length === 0 ? 0 : median$1(values);

export { median as t };