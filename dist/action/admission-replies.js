import { reply, reportRefusal } from "./admission-replies2.js";

export { reply };