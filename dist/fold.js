// src/profile/fold.ts
/**
* A line for each stack, in the order of the file and without line ends; those of perf that read alike are added up.
* With `modules` a frame is written as DTrace writes it: if_cxgbe.ko`t4_eth_rx. What would break a line apart or steer a
* terminal is replaced: `;` by `:`, control characters by `?`, and a first `#`, which would make a comment of it.
*/
function* foldedLines({ format, stacks }, { modules = false } = {}) {
	const texts = textsOf(stacks, labels(modules));
	for (const { text, samples } of format === "perf" ? merged(texts) : texts) yield `${text} ${samples}`;
}
function* textsOf(stacks, labelOf) {
	for (const { frames, samples } of stacks) {
		const text = frames.map(labelOf).join(";");
		yield {
			text: /^#\s/.test(text) ? `?${text.slice(1)}` : text,
			samples
		};
	}
}
/** Frames as folded stacks name them. */
function labels(modules) {
	const known = /* @__PURE__ */ new Map();
	return (frame) => {
		const label = known.get(frame);
		if (label !== void 0) return label;
		const made = labelOf(frame, modules);
		known.set(frame, made);
		return made;
	};
}
function labelOf({ name, module }, modules) {
	const file = module?.slice(module.lastIndexOf("/") + 1);
	return (modules && file !== void 0 ? `${file}\`${name}` : name).replaceAll(";", ":").replace(/[\p{Cc}\u2028\u2029]/gu, "?");
}
function merged(texts) {
	const byText = /* @__PURE__ */ new Map();
	for (const { text, samples } of texts) byText.set(text, (byText.get(text) ?? 0) + samples);
	return byText.entries().map(([text, samples]) => ({
		text,
		samples
	}));
}

export { labels as n, foldedLines as t };