// src/gate/reserve/store/store.ts
/** The message is a sentence that names the store, the reason and the fix. */
var StoreError = class extends Error {
	name = "StoreError";
};

export { StoreError };