// src/lab/freebsd/dut/dut-lost-error.ts
/** Reports that the machine does not come back, and needs a person before the next measurement. */
var DutLostError = class extends Error {
	name = "DutLostError";
};

export { DutLostError };