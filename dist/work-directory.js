// src/work-directory.ts
/** `ppsgate-demo-20261120-231655`, in the current directory. */
function timestampedDirectory(prefix, now = /* @__PURE__ */ new Date()) {
	const digits = now.toISOString().replace(/\D/g, "");
	return `${prefix}-${digits.slice(0, 8)}-${digits.slice(8, 14)}`;
}

export { timestampedDirectory };