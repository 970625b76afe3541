const { isAbsolute, join } = globalThis.process.getBuiltinModule("node:path");

// src/lab/qemu/images-folder.ts
/** Below the cache folder of the XDG Base Directory Specification. */
function imagesFolder({ XDG_CACHE_HOME: cache = "" }, home) {
	return join(isAbsolute(cache) ? cache : join(home, ".cache"), "ppsgate/images");
}

export { imagesFolder };