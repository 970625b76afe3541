import { gateLayoutNoise } from "../gate.js";

export { gateLayoutNoise };