import { healthOf, whyUnhealthy } from "../check.js";

export { healthOf, whyUnhealthy };