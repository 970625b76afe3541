import { N as _isoDateTime, d as ZodISODateTime } from "./scenario.js";

// node_modules/zod/v4/classic/iso.js
function datetime(params) {
	return _isoDateTime(ZodISODateTime, params);
}

export { datetime as t };