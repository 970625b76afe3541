import { M as _coercedNumber, f as ZodNumber, j as _coercedDate, u as ZodDate } from "./scenario.js";

// node_modules/zod/v4/classic/coerce.js
function number(params) {
	return _coercedNumber(ZodNumber, params);
}
function date(params) {
	return _coercedDate(ZodDate, params);
}

export { number as n, date as t };