// src/lab/power/power-controller.ts
var PowerError = class extends Error {
	name = "PowerError";
};

export { PowerError };