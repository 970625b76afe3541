import { F as _isoDateTime, m as ZodISODateTime } from "./design.js";

// node_modules/zod/v4/classic/iso.js
function datetime(params) {
	return _isoDateTime(ZodISODateTime, params);
}

export { datetime as t };