import { PowerError } from "./first-plain.js";
import { realPowerDeps } from "./plain.js";
import { openPower } from "../power.js";

export { openPower, realPowerDeps };