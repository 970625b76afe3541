import { addGateOptions, define, runGates } from "../../gate2.js";

export { addGateOptions, define, runGates };