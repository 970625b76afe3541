import { conclude, measure } from "../gate.js";

export { measure };