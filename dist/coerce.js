import { N as _coercedDate, P as _coercedNumber, h as ZodNumber, p as ZodDate } from "./design.js";

// node_modules/zod/v4/classic/coerce.js
function number(params) {
	return _coercedNumber(ZodNumber, params);
}
function date(params) {
	return _coercedDate(ZodDate, params);
}

export { number as n, date as t };