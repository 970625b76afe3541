import { D as excerpt } from "./schema.js";

// src/config/problem.ts
/** `traffic.flows`, `scenarios[1]`. */
function keyName(path) {
	return path.map((segment) => typeof segment === "number" ? `[${segment}]` : `.${excerpt(String(segment))}`).join("").replace(/^\./, "");
}
const seeExample = "write one, see docs/example/ppsgate.yml";

export { seeExample as n, keyName as t };