import { openEtcd } from "../store.js";

export { openEtcd };