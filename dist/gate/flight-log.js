import { maskFor, openFlightLog } from "./plain.js";

export { openFlightLog };