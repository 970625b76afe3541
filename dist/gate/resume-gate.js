import { resumeGate } from "../gate.js";

export { resumeGate };