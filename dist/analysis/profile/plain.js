import { grouped, shortened as shortened$1 } from "../../model/first-plain.js";
import { median, sum } from "../../vendor/simple-statistics.js";
import { chanceOf, unlikely } from "../stats/plain.js";
import { escaped } from "../../model/plain.js";
import { embedded, embeddedScript } from "../../system/embedded-assets.js";

// src/analysis/profile/profile-error.ts
/** The message is a sentence with the file, the place and the remedy. */
var ProfileError = class extends Error {
	name = "ProfileError";
	conclusion = "usage";
};

// src/analysis/profile/flamegraph-layout.ts
/**
* Sorts siblings by name and sizes them by samples of one source. The same path in both, by names alone, is one box.
* Boxes that are too narrow are not descended into: they hold most paths of large profiles.
*
* @throws ProfileError for more boxes than a page can show.
*/
function layout(stacks, by, { pixelsPerSample, minPixels }) {
	const root = newNode({ name: "all" });
	for (const { frames, samples } of stacks.profile) add(root, {
		frames,
		profile: samples,
		base: 0,
		next: void 0
	});
	for (const { frames, samples } of stacks.base) add(root, {
		frames,
		profile: 0,
		base: samples,
		next: void 0
	});
	root.width = root.samples[by] * pixelsPerSample;
	const isDrawn = ({ width }) => width >= minPixels;
	const rows = [];
	let hiddenSamples = isDrawn(root) ? 0 : root.samples[by];
	let boxes = 0;
	for (let row = [root].filter(isDrawn); row.length > 0;) {
		rows.push(row);
		boxes += row.length;
		if (boxes > maxBoxes) throw tooMany;
		const above = [];
		for (const box of row) for (const callee of callees(box, rows.length - 1, {
			by,
			pixelsPerSample
		})) if (isDrawn(callee)) above.push(callee);
		else hiddenSamples += callee.samples[by];
		row = above;
	}
	return {
		rows,
		samples: root.samples[by],
		hiddenSamples
	};
}
/** A row has 12,000 at most, and published kernel profiles about 300 in all; browsers get slow beyond this. */
const maxBoxes = 1e5;
const tooMany = new ProfileError(`A flamegraph of more than ${maxBoxes} frames is not drawn; fold the profile, and draw a part of it.`);
/** `ipfw.ko` of `/boot/kernel/ipfw.ko`. */
const moduleName = ({ module }) => module && lastName(module);
const lastName = (path) => path.slice(path.lastIndexOf("/") + 1);
const newNode = (frame) => ({
	frame,
	samples: {
		profile: 0,
		base: 0
	},
	first: void 0,
	last: void 0,
	x: 0,
	width: 0
});
function add(node, path) {
	node.samples.profile += path.profile;
	node.samples.base += path.base;
	if (node.last === void 0) node.first = path;
	else node.last.next = path;
	node.last = path;
}
/** Takes the paths from the caller. */
function callees(caller, depth, { by, pixelsPerSample }) {
	const { first } = caller;
	if (first !== void 0 && first.next === void 0) {
		const frame = first.frames[depth];
		return frame === void 0 ? [] : [{
			...caller,
			frame
		}];
	}
	const nodes = /* @__PURE__ */ new Map();
	for (let path = first; path !== void 0;) {
		const { next } = path;
		path.next = void 0;
		const frame = path.frames[depth];
		if (frame !== void 0) {
			const node = nodes.get(frame.name) ?? newNode(frame);
			if (node.first === void 0) nodes.set(frame.name, node);
			add(node, path);
		}
		path = next;
	}
	const sorted = [...nodes.values()].sort((a, b) => a.frame.name < b.frame.name ? -1 : 1);
	let { x } = caller;
	for (const node of sorted) {
		node.x = x;
		node.width = node.samples[by] * pixelsPerSample;
		x += node.width;
	}
	return sorted;
}
function vanishedStacks(profile, base) {
	const paths = /* @__PURE__ */ new Map();
	for (const { frames, samples } of profile.stacks) if (samples > 0) addPath(paths, frames);
	return base.stacks.filter(({ frames }) => !hasPath(paths, frames));
}
function addPath(paths, frames) {
	let at = paths;
	for (const { name } of frames) {
		const callees = at.get(name) ?? /* @__PURE__ */ new Map();
		at.set(name, callees);
		at = callees;
	}
}
function hasPath(paths, frames) {
	let at = paths;
	for (const { name } of frames) at = at?.get(name);
	return at !== void 0;
}

// src/analysis/profile/flamegraph-style.ts
/**
* Maps module names to classes. The kernel has the warm hue of classic flamegraphs, programs share one, and a loadable
* module gets one by its name, or the next free one.
*/
function moduleClassNames({ stacks }) {
	const modules = /* @__PURE__ */ new Set();
	let last;
	for (const { frames } of stacks) for (const { module } of frames) {
		if (module === void 0 || module === last) continue;
		modules.add(module);
		last = module;
	}
	const classNameByModule = /* @__PURE__ */ new Map();
	for (const module of [...modules].toSorted()) {
		const name = lastName(module);
		if (!classNameByModule.has(name)) classNameByModule.set(name, kindOf(module) ?? freeHue(name, [...classNameByModule.values()]));
	}
	return classNameByModule;
}
function kindOf(module) {
	if (/(^|\/)(\[?kernel\b|vmlinu[xz])[^/]*$/.test(module)) return "kernel";
	return module.includes("/") && !/\.ko\b[^/]*$/.test(module) ? "program" : void 0;
}
function freeHue(name, taken) {
	const first = hash(name) % hues.length;
	return hues.map((_, index) => `m${(first + index) % hues.length}`).find((hue) => !taken.includes(hue)) ?? `m${first}`;
}
const nameClassName = (name) => `s${hash(name) % shades}`;
/** FNV-1a of 32 bits. */
function hash(text) {
	let sum = 2166136261;
	for (let index = 0; index < text.length; index += 1) sum = Math.imul(sum ^ text.charCodeAt(index), 16777619);
	return sum >>> 0;
}
function changeClassName({ before, now }) {
	const points = 100 * (now - before);
	const step = changeSteps.filter((least) => Math.abs(points) >= least).length;
	if (step === 0) return "even";
	return points < 0 ? `less${step}` : `more${step}`;
}
/** Thresholds of the stronger colours, in percentage points. */
const changeSteps = [
	.1,
	.3,
	1,
	3,
	10
];
const hues = [
	115,
	223,
	169,
	277,
	133,
	241,
	187,
	295,
	151,
	259,
	205,
	313
];
const shades = 4;
const classes = [
	...hues.map((hue, index) => `.m${index}{--hue:${hue}}`),
	...Array.from({ length: shades }, (_, index) => `.s${index}{--step:${index}}`),
	...changeSteps.map((_, index) => `.more${index + 1},.less${index + 1}{--step:${index + 1}}`)
].join("\n");
/** Include it once per page. Colours combine a lightness, a chroma and a hue of OKLCH. */
const flamegraphStyle = () => `
.ppsgate-flamegraph{
${classes}}
${embedded(new URL("../../flamegraph-style.css", import.meta.url))}`;

// src/analysis/profile/profile.ts
const samplesOf = (stacks) => stacks.reduce((sum, { samples }) => sum + samples, 0);
/** Remembers what `make` returned: large profiles repeat a few thousand functions, and as many counts. */
function remembered(make) {
	const known = /* @__PURE__ */ new Map();
	return (key) => {
		const found = known.get(key);
		if (found !== void 0) return found;
		const made = make(key);
		known.set(key, made);
		return made;
	};
}

// src/analysis/profile/flamegraph.ts
/** Include it once per page. */
const flamegraphScript = () => embeddedScript(new URL("../../flamegraph-viewer.js", import.meta.url));
/**
* Draws an SVG in the style of Brendan Gregg's: callers below, siblings by name, frames as wide as their share of all
* samples.
*
* Against a base, colours show the change of a path's share. Paths that only base has are in a separate lane at the
* same scale: above their callers, drawn at today's width, they might not fit. Frames are equal if names and callers
* are, at any address.
*
* @throws ProfileError for one that is too large for a browser.
*/
function flamegraph(profile, options) {
	const { base, widthPixels = 1200, standalone = true } = options;
	const title = shortened(options.title, longestLine);
	const subtitle = shortened(options.subtitle ?? "", longestLine);
	const { legend, parts } = drawing(profile, base, widthPixels - 2 * margin);
	const header = stacked([
		line("title", title, 28),
		...subtitle === "" ? [] : [line("faint", subtitle, 20)],
		...legend
	]);
	const body = stacked(parts);
	const bodyTop = header.height + margin;
	const height = bodyTop + body.height + margin;
	const label = subtitle === "" ? title : `${title}: ${subtitle}`;
	return [
		`<svg xmlns="http://www.w3.org/2000/svg" class="${base ? "ppsgate-flamegraph difference" : "ppsgate-flamegraph"}" width="${widthPixels}" height="${height}" viewBox="0 0 ${widthPixels} ${height}" role="group" aria-label="${escaped(label)}">`,
		...standalone ? [`<title>${escaped(title)}</title>\n<style><![CDATA[${flamegraphStyle()}]]></style>`] : [],
		`<g class="header" transform="translate(${margin} 0)">\n${header.markup}\n</g>`,
		`<g class="body" transform="translate(${margin} ${bodyTop})">\n${body.markup}\n</g>`,
		...standalone ? [`<script><![CDATA[${flamegraphScript()}]]><\/script>`] : [],
		"</svg>\n"
	].join("\n");
}
const margin = 10;
const rowHeight = 17;
const frameHeight = 16;
const minPixels = .1;
/** Monospaced, at 11 pixels. */
const characterWidth = 6.63;
const longestLine = 1e3;
const longestName = 300;
function stacked(parts) {
	let height = 0;
	return {
		markup: parts.map((part) => {
			const top = height;
			height += part.height;
			return `<g transform="translate(0 ${top})">${part.markup}</g>`;
		}).join("\n"),
		height
	};
}
const line = (className, text, height) => ({
	markup: `<text class="${className}" y="${height - 6}">${escaped(text)}</text>`,
	height
});
function drawing(profile, base, width) {
	const nothing = (sentence) => ({
		legend: [],
		parts: [line("faint", sentence, 20)]
	});
	if (samplesOf(profile.stacks) <= 0) return nothing("No samples.");
	if (base === void 0) return single(profile, width);
	if (samplesOf(base.stacks) <= 0) return nothing("No samples in base to compare with.");
	return difference(profile, base, width);
}
function single(profile, width) {
	const { stacks } = profile;
	const total = samplesOf(stacks);
	const classNameByModule = moduleClassNames(profile);
	const lookOf = remembered((frame) => `${classNameByModule.get(moduleName(frame) ?? "") ?? "plain"} ${nameClassName(frame.name)}`);
	const placed = layout({
		profile: stacks,
		base: []
	}, "profile", scaled(total, width));
	const aboutOf = remembered((samples) => `${counted$1(samples)}, ${percent$1(samples / total)}`);
	const drawn = flames(placed, {
		classNames: ({ frame }) => lookOf(frame),
		about: ({ samples }) => aboutOf(samples.profile)
	});
	return {
		legend: moduleLegend(profile, classNameByModule),
		parts: [drawn, ...hiddenNote(placed)]
	};
}
const scaled = (samples, width) => ({
	pixelsPerSample: width / samples,
	minPixels
});
function difference(profile, base, width) {
	const stacks = {
		profile: profile.stacks,
		base: base.stacks
	};
	const totals = {
		profile: samplesOf(stacks.profile),
		base: samplesOf(stacks.base)
	};
	const changeOf = ({ samples }) => ({
		before: samples.base / totals.base,
		now: samples.profile / totals.profile
	});
	const placed = layout(stacks, "profile", scaled(totals.profile, width));
	const drawn = flames(placed, {
		classNames: (box) => changeClassName(changeOf(box)),
		about: (box) => `${changeText(changeOf(box))}, ${counted$1(box.samples.profile)}`
	});
	const vanished = {
		...stacks,
		base: vanishedStacks(profile, base)
	};
	const lane = vanishedLane(layout(vanished, "base", scaled(totals.base, width)), changeOf);
	return {
		legend: [changeLegend()],
		parts: [
			drawn,
			...lane,
			...hiddenNote(placed)
		]
	};
}
/** Draws callers that the profile still has as empty boxes. */
function vanishedLane(placed, changeOf) {
	const root = placed.rows[0]?.[0];
	if (root === void 0) return [];
	const share = (box) => percent$1(changeOf(box).before);
	const isGone = ({ samples }) => samples.profile === 0;
	const drawn = flames(placed, {
		classNames: (box) => isGone(box) ? `${changeClassName(changeOf(box))} gone` : "caller",
		about: (box) => isGone(box) ? changeText(changeOf(box)) : `calls what is gone, ${share(box)} of base`
	});
	const heading = `Only in base (dashed, to the same scale): ${share(root)}`;
	return [line("note", heading, 32), drawn];
}
/** Leaves frames below a pixel, most of a large drawing, to the script, which needs less than half of the bytes. */
function flames({ rows }, { classNames, about }) {
	let characters = 0;
	const textsOf = remembered(frameTexts);
	return {
		markup: `<g class="flames">\n${rows.map((row, depth) => {
			const wide = [];
			const narrow = [];
			for (const box of row) {
				const isWide = box.width >= minWidePixels;
				const text = (isWide ? wideFrame : narrowFrame)(box, textsOf(box.frame), classNames(box), about(box));
				characters += text.length;
				if (characters > maxCharacters) throw tooLarge;
				(isWide ? wide : narrow).push(text);
			}
			if (narrow.length > 0) wide.push(`<metadata>${narrow.join("\n")}</metadata>`);
			return `<g transform="translate(0 ${(rows.length - 1 - depth) * rowHeight})">\n${wide.join("\n")}\n</g>`;
		}).join("\n")}\n</g>`,
		height: rows.length * rowHeight
	};
}
const minWidePixels = 1;
function frameTexts(frame) {
	const name = frame.name || "(no name)";
	const module = moduleName(frame);
	return {
		name,
		title: escaped(shortened(name)),
		module: module === void 0 ? "" : `${escaped(shortened(module))} · `
	};
}
/** `about` is text for XML. */
function wideFrame(box, { name, title, module }, classNames, about) {
	const label = fitted(name, box.width);
	const text = label && `<text x="${round(box.x + 3)}" y="12">${escaped(label)}</text>`;
	return `<g class="${classNames}"><title>${title}\n${module}${about}</title><rect x="${round(box.x)}" width="${round(box.width)}" height="${frameHeight}"/>${text}</g>`;
}
/** A line that flamegraph-viewer.js reads: escaped text has no tabs and line ends. */
const narrowFrame = (box, { title, module }, classNames, about) => `${classNames}\t${round(box.x)}\t${round(box.width)}\t${title}\t${module}${about}`;
/** A frame has about 200 characters, with a maliciously long name 2,000. */
const maxCharacters = 3e7;
const tooLarge = new ProfileError(`A flamegraph of more than ${maxCharacters} characters is not drawn; fold the profile, and draw a part of it.`);
const shortened = (text, maxCharacters = longestName) => text.length <= maxCharacters ? text : `${text.slice(0, maxCharacters - 1)}…`;
function fitted(name, width) {
	const maxCharacters = Math.floor((width - 6) / characterWidth);
	return maxCharacters < 3 ? "" : shortened(name, maxCharacters);
}
const round = (pixels) => Math.round(pixels * 100) / 100;
/** Intl takes longer to start than a whole drawing. */
const counted$1 = (samples) => samples === 1 ? "1 sample" : `${String(samples).replace(thousands, ",")} samples`;
const thousands = /\B(?=(?:\d{3})+$)/g;
const percent$1 = (share) => `${(100 * share).toFixed(2)} %`;
function hiddenNote({ samples, hiddenSamples }) {
	if (hiddenSamples === 0) return [];
	const share = percent$1(hiddenSamples / samples);
	return [line("note", `Too narrow to be drawn: frames with ${share} of samples`, 24)];
}
function changeText({ before, now }) {
	const points = Math.abs(100 * (now - before)).toFixed(2);
	const sign = Number(points) === 0 ? "±" : now < before ? "−" : "+";
	const [from, to] = [before > 0 ? percent$1(before) : "not in base", now > 0 ? percent$1(now) : "gone"];
	return `${from} → ${to} (${sign}${points} points)`;
}
function changeLegend() {
	const steps = changeSteps.map((least, index) => ({
		least,
		step: index + 1
	}));
	const swatches = [
		...steps.toReversed().map(({ least, step }) => ({
			classNames: `less${step}`,
			text: `−${least}`
		})),
		{
			classNames: "even",
			text: "0"
		},
		...steps.map(({ least, step }) => ({
			classNames: `more${step}`,
			text: `+${least}`
		}))
	];
	const width = 33;
	const drawn = swatches.map(({ classNames, text }, index) => {
		const x = index * width;
		return `<g class="${classNames}"><rect x="${x}" width="${width}" height="14"/><text x="${x + width / 2}" y="11" text-anchor="middle">${text}</text></g>`;
	});
	return legend([
		legendText("width: share of samples", 0),
		legendText("colour: its change in percentage points from", 0),
		{
			markup: drawn.join(""),
			width: swatches.length * width
		}
	]);
}
const legendText = (legendLabel, x) => ({
	markup: `<text x="${x}" y="11">${escaped(legendLabel)}</text>`,
	width: x + legendLabel.length * characterWidth
});
/** Arranges items side by side; the script breaks the line as needed. */
function legend(items) {
	let x = 0;
	return {
		markup: `<g class="legend">${items.map(({ markup, width }) => {
			const left = x;
			x += width + 14;
			return `<g transform="translate(${round(left)} 0)">${markup}</g>`;
		}).join("")}</g>`,
		height: 22
	};
}
const maxInLegend = 8;
const minInLegend = .001;
/** Lists modules by samples that ended in them; empty if the profile has no modules. */
function moduleLegend({ stacks }, classNameByModule) {
	if (classNameByModule.size === 0) return [];
	const samplesIn = /* @__PURE__ */ new Map();
	const nameOf = remembered(moduleName);
	for (const { frames, samples } of stacks) {
		const sampled = frames.at(-1);
		const name = (sampled && nameOf(sampled)) ?? "of no module";
		samplesIn.set(name, (samplesIn.get(name) ?? 0) + samples);
	}
	const total = samplesOf(stacks);
	return [legend([...samplesIn].filter(([, samples]) => samples / total >= minInLegend).toSorted(([, a], [, b]) => b - a).slice(0, maxInLegend).map(([name, samples]) => {
		const share = percent$1(samples / total);
		const { markup, width } = legendText(`${shortened(name, 40)} ${share}`, 15);
		return {
			markup: `<g class="${classNameByModule.get(name) ?? "plain"} s1"><rect y="2" width="10" height="10"/></g>${markup}`,
			width
		};
	}))];
}

// src/analysis/profile/changed-functions.ts
/**
* Compares the own samples of each function, without its callees, in two profiles without idle stacks; `cost` is the
* cost of a packet in the sampled unit: the DUT's time, or its instructions.
*
* Shares alone mislead: if one function gets more expensive, all other shares fall. Share × cost does not, and is
* compared if the cost is known; its own error is neglected, as it is below `bootDeviation`. Otherwise a function must
* have moved by its share, and also by its share if the median function had kept its cost (as Anders and Huber compare
* counts of genes, Genome Biology 11:R106, 2010).
*
* Holm's correction for many functions (Scandinavian Journal of Statistics 6, 1979) bounds the chance of any wrong name
* for any dependence between shares. Benjamini and Hochberg bound only the proportion of wrong names, too little if
* only the first few are read. If the measured runs show a change, `isChange`, the question is only where it is, and
* the bound is wider.
*/
function explain(base, patched, cost, isChange = false) {
	const totals = {
		base: samplesOf(base.stacks),
		patched: samplesOf(patched.stacks)
	};
	const exactness = cost?.metric === "instructionsPerPacket" ? counted : sampled;
	const functions = ownShares(base, patched, totals, exactness);
	const slowdowns = cost === void 0 ? [1, 1 / medianRatio(functions)] : [cost.patched / cost.base];
	const chances = functions.map((one) => Math.max(...slowdowns.map((slowdown) => chanceOf(one.samples, totals, slowdown, exactness))));
	const changedFunctions = unlikely(functions, chances, isChange ? falseAlarm.changed : falseAlarm.unchanged).filter(({ ratio }) => isLarge(slowdowns.map((slowdown) => relativeChange(ratio, slowdown)), exactness)).map((one) => changedFunctionOf(one, cost)).toSorted((a, b) => absoluteChange(b, cost) - absoluteChange(a, cost));
	return {
		changedFunctions: changedFunctions.slice(0, maxChangedFunctions),
		moved: changedFunctions.length
	};
}
const maxChangedFunctions = 10;
/** Most functions differ by 1 to 5 % between eight CPUs, locks by 8 %: a boot is the mean of eight. */
const sampled = {
	minChange: .0075,
	bootDeviation: .02
};
/** Instructions differ between boots with the batches of packets: by 0.1 to 0.3 % in total. */
const counted = {
	minChange: .002,
	bootDeviation: .005
};
/** Chance that a function of a cell is named wrongly, by whether the cell itself is known to have changed. */
const falseAlarm = {
	unchanged: .01,
	changed: .05
};
function ownShares(base, patched, totals, { minChange }) {
	const leaves = [...leavesOf(base, "base"), ...leavesOf(patched, "patched")];
	return [...Map.groupBy(leaves, ({ name }) => name).values()].flatMap(byModule).map((leaves) => shareOf(leaves, totals)).filter(({ ratio }) => ratio.base + ratio.patched >= minChange);
}
/** Drops the module's folder: base and patched kernels are in different folders. */
const leavesOf = ({ stacks }, of) => stacks.flatMap(({ frames, samples }) => {
	const frame = frames.at(-1);
	if (frame === void 0) return [];
	return {
		name: frame.name,
		module: frame.module?.split("/").at(-1),
		of,
		samples
	};
});
/** A function that moved to another module is still the same, unless a profile has its name in several. */
function byModule(leaves) {
	const modules = (of) => new Set(leaves.filter((leaf) => leaf.of === of).map(({ module }) => module));
	if (modules("base").size <= 1 && modules("patched").size <= 1) return [leaves];
	return [...Map.groupBy(leaves, ({ module }) => module).values()];
}
function shareOf(leaves, totals) {
	const last = leaves.at(-1);
	const samplesIn = (of) => sum(leaves.filter((leaf) => leaf.of === of).map(({ samples }) => samples));
	const samples = {
		base: samplesIn("base"),
		patched: samplesIn("patched")
	};
	return {
		name: last?.name ?? "",
		module: last?.module,
		samples,
		ratio: {
			base: samples.base / totals.base,
			patched: samples.patched / totals.patched
		}
	};
}
function medianRatio(functions) {
	const logs = functions.filter(({ ratio }) => ratio.base > 0 && ratio.patched > 0).map(({ ratio }) => Math.log(ratio.patched / ratio.base));
	return logs.length === 0 ? 1 : Math.exp(median(logs));
}
/** Change relative to a packet's cost in the more expensive variant. */
const relativeChange = ({ base, patched }, slowdown) => (patched * slowdown - base) / Math.max(1, slowdown);
/** True if a change is large by every measure, and in the same direction. */
const isLarge = (changes, { minChange }) => Math.min(...changes) >= minChange || Math.max(...changes) <= -minChange;
const changedFunctionOf = ({ name, module, ratio }, cost) => ({
	function: name,
	...module !== void 0 && { module },
	baseRatio: ratio.base,
	patchedRatio: ratio.patched,
	...cost && { [cost.metric]: {
		base: ratio.base * cost.base,
		patched: ratio.patched * cost.patched
	} }
});
/** Returns the change of its cost if known, otherwise of its share. */
const absoluteChange = ({ baseRatio, patchedRatio }, { base, patched } = {
	base: 1,
	patched: 1
}) => Math.abs(patchedRatio * patched - baseRatio * base);

// src/analysis/profile/idle.ts
/** Idle loops of FreeBSD (kern/sched_*.c, cpu_idle) and Linux (kernel/sched/idle.c, drivers/cpuidle, arch_cpu_idle). */
const idleLoops = /* @__PURE__ */ new Set([
	"sched_idletd",
	"cpu_idle",
	"cpu_idle_acpi",
	"cpu_idle_hlt",
	"cpu_idle_mwait",
	"cpu_idle_spin",
	"cpu_idle_default",
	"cpu_idle_60x",
	"cpu_idle_booke",
	"cpu_idle_e500mc",
	"cpu_idle_powerx",
	"cpu_idle_power9",
	"powernv_cpu_idle",
	"phyp_cpu_idle",
	"ps3_cpu_idle",
	"cpu_idleclock",
	"cpu_activeclock",
	"acpi_cpu_idle",
	"acpi_cpu_idle_mwait",
	"acpi_cpu_c1",
	"do_idle",
	"cpu_idle_loop",
	"cpu_idle_poll",
	"cpu_startup_entry",
	"cpuidle_idle_call",
	"call_cpuidle",
	"cpuidle_enter",
	"cpuidle_enter_state",
	"cpuidle_enter_s2idle",
	"arch_cpu_idle",
	"default_idle",
	"default_idle_call",
	"default_enter_idle",
	"poll_idle",
	"mwait_idle",
	"amd_e400_idle",
	"intel_idle",
	"intel_idle_ibrs",
	"intel_idle_irq",
	"intel_idle_xstate",
	"intel_idle_hlt",
	"intel_idle_s2idle",
	"acpi_idle_enter",
	"acpi_idle_enter_bm",
	"acpi_idle_enter_s2idle",
	"acpi_idle_enter_simple",
	"acpi_idle_do_entry",
	"acpi_safe_halt",
	"cpu_do_idle",
	"arm_cpuidle_suspend",
	"psci_enter_idle_state",
	"psci_cpu_suspend_enter",
	"sbi_cpuidle_enter_state",
	"snooze_loop",
	"shared_cede_loop",
	"dedicated_cede_loop",
	"nap_loop",
	"stop_loop"
]);
/**
* Instructions that stop a processor until an interrupt. Virtual ones also wait for locks this way, which counts as
* work.
*/
const halts = /* @__PURE__ */ new Set([
	"safe_halt",
	"native_halt",
	"native_safe_halt",
	"pv_native_safe_halt",
	"xen_safe_halt",
	"xen_hypercall_sched_op",
	"tdx_safe_halt",
	"mwait_idle_with_hints"
]);
/** Loops that also call other work. All other loops call only a driver of idling, or an interrupt. */
const mixedLoops = /* @__PURE__ */ new Set([
	"sched_idletd",
	"do_idle",
	"cpu_idle_loop",
	"cpu_startup_entry",
	"cpuidle_idle_call"
]);
/** Preparations of idling: its tick, its governor, its accounting. */
const preparation = /^(?:cpuidle_|tick_nohz_|tick_check_broadcast|tick_broadcast_|rcu_idle_|ct_idle_|ct_cpuidle_|menu_|teo_|ladder_|haltpoll_|arch_cpu_idle_|sched_idle_set_state|quiet_vmstat)/;
/** Functions that end idling: entries of interrupts and exceptions (arch/*, sys/*), and clocks. */
const interruption = new RegExp([
	"irq|IRQ|interrupt|softirq|exception",
	"^(?:asm|exc|sysvec|smp|nmi|gic|lapic|intr|handle|trap|vector)_",
	"^(?:ret_from_|do_page_fault|page_fault|error_entry|nmi|end_repeat_nmi|trap$|calltrap|alltraps|handle_|el[01]h?_|el[01]t_)",
	"^(?:io|ext|mcck)_int_handler|_upcall$|_callback(?:_vector)?$|_common(?:_virt)?$",
	"^X[a-z]",
	"^(?:handleevents|hardclock|statclock|timercb)",
	"^(?:net_rx_action|napi_|__napi_|netif_|__netif_|process_backlog|schedule|__schedule|preempt_schedule)",
	String.raw`^\[?unknown\]?$`
].join("|"));
/** Functions that switch the processor's own interrupts on and off, and the state in which they end idling. */
const notInterruption = /idle|local_irq|irq_(?:enable|disable|save|restore)$/;
/**
* Removes idle stacks; returns also their number of samples, and the idle frames found, in order. A stack is idle if its
* innermost idle loop was not interrupted: of the frames above it none is the entry of an interrupt or other work.
*/
function withoutIdle(profile) {
	const kindOf = remembered(({ name }) => kindOfName(bareName(name)));
	const idle = [];
	const working = [];
	for (const stack of profile.stacks) (idles(stack.frames, kindOf) ? idle : working).push(stack);
	const distinctive = idle.flatMap(({ frames }) => frames.filter((frame) => isDistinctive(kindOf(frame))));
	return {
		profile: {
			...profile,
			stacks: working
		},
		idleSamples: samplesOf(idle),
		idleFrames: [...new Set(distinctive.map(({ name }) => bareName(name)))]
	};
}
const isDistinctive = (kind) => kind === "loop" || kind === "mixed-loop" || kind === "halt";
function idles(frames, kindOf) {
	let halts = true;
	let called = "halt";
	for (let at = frames.length - 1; at >= 0; at -= 1) {
		const kind = kindOf(frames[at]);
		if (kind === "interruption") return false;
		if (kind === "loop") return true;
		if (kind === "mixed-loop") return halts || called === "preparation" || called === "named-idle";
		halts &&= kind === "halt";
		called = kind;
	}
	if (halts) return true;
	if (!(frames.length > 1 && /^swapper(\/\d+)?$/.test(frames[0]?.name ?? ""))) return false;
	return frames.slice(1).every((frame) => ["halt", "named-idle"].includes(kindOf(frame)));
}
function kindOfName(name) {
	if (mixedLoops.has(name)) return "mixed-loop";
	if (idleLoops.has(name)) return "loop";
	if (halts.has(name)) return "halt";
	if (/^schedule_idle$|newidle|idle_balance/.test(name)) return "interruption";
	if (preparation.test(name)) return "preparation";
	if (interruption.test(name) && !notInterruption.test(name)) return "interruption";
	return idleName.test(name) ? "named-idle" : "other";
}
/** Usual names of idle drivers, trusted only in the idle process: programs have idle functions, too. */
const idleName = /idle|cstate|mwait|halt(?:$|_)|_hlt$|cpu_suspend|_cede|snooze|(?:^|_)wf[ie](?:$|_)/;
/** Strips the additions of compilers (`.constprop.0`), collapsers (`_[k]`) and --modules (``kernel` ``). */
const bareName = (name) => name.replace(/^.*`/, "").replace(/_\[[a-z]\]$/, "").replace(/\.(?:constprop|isra|part|cold|lto_priv|llvm)\..*$/s, "");

// src/analysis/profile/parser.ts
/** Limits of a process of 4 GB: 100 MB of a kernel's call graph have thousands of functions, and ten million frames. */
const ownBounds = {
	depth: 16384,
	functions: 2e6,
	stacks: 5e6,
	frames: 6e7
};
/**
* Limits of profiles from an untrusted kernel or artifact, all of which can be drawn in a few seconds. hwpmc(4) is set
* to keep 100 frames of a stack, and Linux keeps 127; published forwarding profiles have less than 2,000 functions,
* 100,000 frames and 2 MB as folded text.
*/
const foreignBounds = {
	depth: 1024,
	functions: 1e5,
	stacks: 5e5,
	frames: 2e6,
	characters: 64 * 1024 ** 2
};
/** Returns the identical object for the same name and module; throws a ProfileError for too many. */
function frameTable(file, bounds) {
	const byModule = /* @__PURE__ */ new Map();
	let functions = 0;
	return (name, module) => {
		const byName = byModule.get(module) ?? /* @__PURE__ */ new Map();
		const known = byName.get(name);
		if (known !== void 0) return known;
		functions += 1;
		if (functions > bounds.functions) throw tooMuch(file, bounds.functions, "different functions");
		const frame = module === void 0 ? { name } : {
			name,
			module
		};
		byModule.set(module, byName.set(name, frame));
		return frame;
	};
}
function stackList(file, bounds) {
	const all = [];
	let stacks = 0;
	let frames = 0;
	function count(depth) {
		checkDepth(depth, file, bounds);
		stacks += 1;
		if (stacks > bounds.stacks) throw tooMuch(file, bounds.stacks, "stacks");
		frames += depth;
		if (frames > bounds.frames) throw tooMuch(file, bounds.frames, "frames in all its stacks");
	}
	return {
		all,
		count,
		add(stack) {
			count(stack.frames.length);
			all.push(stack);
		}
	};
}
/** Counts names for each stack, as a pmcstat call graph names a function once for any number of stacks. */
function checkCharacters(stacks, file, bounds) {
	const { characters: most } = bounds;
	if (most === void 0) return;
	let characters = 0;
	for (const { frames } of stacks) for (const { name, module = "" } of frames) characters += name.length + module.length + 2;
	if (characters > most) throw tooMuch(file, most, "characters in the names of all its stacks");
}
function checkDepth(depth, file, bounds) {
	if (depth > bounds.depth) throw tooMuch(file, bounds.depth, "frames in one stack");
}
const tooMuch = (file, most, what) => new ProfileError(`${file} has more than ${most.toLocaleString("en-US")} ${what}, and at most so many are read; profile for a shorter time.`);
/** The deepest stack with long names has a few hundred thousand bytes. */
const longestLineBytes = 1024 ** 2;
function checkLine(bytes, file) {
	if (bytes <= longestLineBytes) return;
	throw new ProfileError(`${file} has a line of more than ${longestLineBytes.toLocaleString("en-US")} bytes, which no profile has; give what pmcstat -G or perf script printed.`);
}
/** Copies each line: a slice would keep the whole text in memory. */
function* linesOf(bytes, file) {
	for (let start = 0; start < bytes.length;) {
		const end = bytes.indexOf("\n", start);
		checkLine(end - start, file);
		yield bytes.toString("utf8", start, end);
		start = end + 1;
	}
}
const isBlank = (line) => line.trim() === "";
const isComment = (line) => /^#(?:\s|$)/.test(line);
/** Reads `# kernel: TEXT`, which ppsgate writes at the head of its profiles, or perf's `# os release`. */
function kernelIn(comment) {
	const text = /^# (?:kernel|os release)\s*:\s*(\S.*)/s.exec(comment)?.[1];
	return text && oneLine(text);
}
const oneLine = (text) => text.replace(/[\s\p{Cc}]+/gu, " ").trim();
function sampleCount(digits, place) {
	const count = Number(digits);
	if (Number.isSafeInteger(count)) return count;
	throw new ProfileError(`${place}: ${digits.slice(0, 40)} samples are more than can be counted exactly; profile for a shorter time.`);
}
/** Counts the lines that a parser skips, and keeps the first. */
var SkippedLines = class {
	#count = 0;
	#first = {
		line: 0,
		text: ""
	};
	add(line, text) {
		if (this.#count === 0 || line < this.#first.line) this.#first = {
			line,
			text
		};
		this.#count += 1;
	}
	/** Names the skipped lines in a sentence; empty without any. */
	notes(name) {
		if (this.#count === 0) return [];
		const { line, text } = this.#first;
		return [`${this.#count === 1 ? "1 line is" : `${grouped(this.#count)} lines are`} skipped in ${name} as no part of a stack; the first is line ${line}, "${shortened$1(text)}".`];
	}
};
const cutNote = (name, how) => `${name} looks cut short, ${how}: what there is of it is read.`;
const lastLineCut = "its last line has no end";
/** Returns the events of a file as one text, with a note if there are several. */
function eventsOf(events, name) {
	const event = oneLine([...events].join(", "));
	return {
		about: event === "" ? {} : { event },
		notes: events.size > 1 ? [`${name} counts several events (${event}), here added up.`] : []
	};
}

// src/analysis/profile/folded.ts
/** The last space separates the count, so that names may have spaces; `# ` begins a comment. */
const isFoldedLine = (line) => (partsOf(line)?.frames ?? "").trim() !== "";
/** Searches from the end: a pattern that may begin anywhere is retried at every letter. */
function partsOf(line) {
	const text = line.trimEnd();
	let start = text.length;
	while (isDigit(text.charCodeAt(start - 1))) start -= 1;
	return start < text.length && /[ \t]/.test(text.charAt(start - 1)) ? {
		frames: text.slice(0, start - 1),
		count: text.slice(start)
	} : void 0;
}
/** Matches `main;read 1.5`: shares or seconds instead of samples. */
const isFractionLine = (line) => fractionIn(line) !== void 0;
const fractionIn = (line) => /\S[ \t](\d*\.\d+)$/.exec(line.trimEnd().slice(-maxTracked))?.[1];
/** Longer than any number, so that a long line is not searched from every position. */
const maxTracked = 64;
/**
* Detects a difference, which has the samples of two profiles. A function's name may end in a number, but hardly in
* every line.
*/
const hasTwoCounts = (frames) => /\S[ \t]\d*\.?\d+$/.test(frames.slice(-64));
const isDigit = (code) => code >= 48 && code <= 57;
/**
* Reads every line as a stack, except blank ones and comments. A frame may have a module as in DTrace,
* if_cxgbe.ko`t4_eth_rx; names keep annotations like `_[k]`.
* @throws ProfileError for any other line, for a count that is fractional or too large, and for two counts in every
* line.
*/
function foldedParser(name, bounds) {
	const frameOf = frameTable(name, bounds);
	const stacks = stackList(name, bounds);
	let kernel;
	let lines = 0;
	let pairs = 0;
	let firstPair;
	function framed(label) {
		const [, module, own] = /^([^`\s]+)`(.+)$/s.exec(label) ?? [];
		return own === void 0 ? frameOf(label) : frameOf(own, module);
	}
	function takeLine(line) {
		lines += 1;
		if (isBlank(line)) return;
		if (isComment(line)) {
			if (stacks.all.length === 0) kernel ??= kernelIn(line);
			return;
		}
		const place = `${name}, line ${lines}`;
		const { frames, count } = partsOf(line) ?? refuse(line, place);
		if (hasTwoCounts(frames)) {
			pairs += 1;
			firstPair ??= {
				place,
				line
			};
		}
		stacks.add({
			frames: frames.split(";").map(framed),
			samples: sampleCount(count, place)
		});
	}
	return {
		take(bytes) {
			for (const line of linesOf(bytes, name)) takeLine(line);
		},
		end(unfinished) {
			const rest = unfinished?.toString() ?? "";
			if (isFoldedLine(rest)) takeLine(rest);
			if (firstPair !== void 0 && pairs === stacks.all.length) refuseDifference(firstPair);
			return {
				profile: {
					format: "folded",
					...kernel !== void 0 && { kernel },
					stacks: stacks.all
				},
				notes: unfinished === void 0 ? [] : [cutNote(name, lastLineCut)]
			};
		}
	};
}
function refuse(line, place) {
	const fraction = fractionIn(line);
	throw new ProfileError(fraction === void 0 ? `${place}: "${shortened$1(line)}" is no folded stack like "main;read 12"; remove it, or fold the profile again.` : `${place}: ${fraction} is no whole number of samples; fold with samples rather than with shares or seconds.`);
}
function refuseDifference({ place, line }) {
	throw new ProfileError(`${place}: "${shortened$1(line)}" ends in two counts, like every stack of this file: it is the difference of two profiles; give one profile, as perf or pmcstat printed it.`);
}

// src/analysis/profile/perf-frame.ts
/** Matches `ADDRESS NAME+0xOFFSET (MODULE)`; -F may omit each part, and inlined functions have no address. */
function frameIn(line) {
	const text = line.trimEnd();
	const [, address, symbol] = addressed.exec(text) ?? [];
	if (address !== void 0 && symbol !== void 0) return symbolFrame(address, symbol);
	if (!/^(?:\t| {8})/.test(text)) return void 0;
	if (addressAlone.test(text)) return { name: text.trim() };
	const label = text.trim();
	return /^\S*[^\s:]$/.test(label) && !label.includes("[") || / \(\S/.test(label.slice(0, -1)) ? labelled(label) : void 0;
}
/** Reads the frame of a sample without a call chain, after the event or the last field of its head. */
function frameAfterHead(rest) {
	if (!atAddress.test(rest)) return void 0;
	const last = /^\s+(?:[\da-f]{4,16}\s+)*(?=[\da-f]{1,16} +[^\s(])/.exec(rest)?.[0];
	const [, address = "", symbol = ""] = addressed.exec(` ${rest.slice(last?.length).trim()}`) ?? [];
	return address === "" ? { name: rest.trim() } : symbolFrame(address, symbol);
}
const atAddress = /^(?:\s+[\da-f]{6}|\s{1,2}[ \da-f]{15}[\da-f](?: |$))/;
const addressed = /^\s+([\da-f]{1,16}) +(\S.*)$/;
const addressAlone = /^\s+[\da-f]{1,16}$/;
const offset = /\+0x[\da-f]+$/;
function symbolFrame(address, symbol) {
	if (/^(?:insn|ilen):/.test(symbol)) return void 0;
	const module = /^\((\S[^()]*(?: \(deleted\))?)\)$/.exec(symbol)?.[1];
	return module === void 0 ? labelled(symbol) : {
		name: address,
		...modulePart(module)
	};
}
function labelled(label) {
	const [symbol, module] = parted(label.replace(/ \((?:inlined|inline)\)$/, ""));
	return {
		name: symbol.replace(offset, ""),
		...modulePart(module)
	};
}
const modulePart = (module) => module === void 0 ? {} : { module: module.replace(offset, "") };
/** C++ names contain parentheses too, but none that follow a space and end the line. */
function parted(text) {
	if (!text.endsWith(")")) return [text];
	const end = text.endsWith(" (deleted))") ? text.length - 11 : text.length;
	const start = text.lastIndexOf(" (", end - 1);
	return start < 1 ? [text] : [text.slice(0, start), text.slice(start + 2, -1)];
}

// src/analysis/profile/perf-head.ts
/** Reads `[COMMAND] [PID[/TID]] [[CPU]] [MISC] [DATE] [TIME:] [PERIOD] [EVENT: [REST]]`; undefined for any other line. */
function headIn(line) {
	const text = line.trimEnd().replace(guest, "");
	if (instruction.test(text)) return void 0;
	const found = latencyHead(text) ?? placedHead(text);
	if (found !== void 0) return found;
	const [withPid, withoutPid] = [numbered, unnumbered].map((form) => headOf(form.exec(text)));
	if (withPid?.isSure === true) return withPid;
	if (withoutPid?.isSure === true) return withoutPid;
	const unsure = eventHead(text) ?? withPid ?? withoutPid;
	return unsure && tracepointFields.test(text) ? {
		...unsure,
		isUnclear: !unsure.isSure
	} : unsure;
}
/**
* Reads the head of a sample without a call chain, which ends in the sampled address, 16 columns wide, and its symbol.
*/
function headBeforeAddress(line) {
	const [, text, address] = beforeAddress.exec(line.trimEnd()) ?? [];
	if (text === void 0 || address === void 0) return void 0;
	const head = headIn(text);
	return head?.rest === "" ? {
		...head,
		rest: address
	} : void 0;
}
const tracepointFields = /^\w+=\S* \w+=/;
/** perf's process fields for a guest come before all others. */
const guest = /^(?:VM:\s{0,8}\d{1,10} |VCPU:\d{1,10} ){1,2}/;
/** The length and bytes of the sampled instruction, after its stack. */
const instruction = /^ (?:ilen|insn): /;
const beforeAddress = /^(\s{0,64}\S.{0,199}?)( (?=[ \da-f]{16}(?: \S|$)) {0,15}[\da-f]{1,16}(?: \S.*)?)$/;
const gap = String.raw`(?:\s{1,64}|$)`;
const number = String.raw`\d{1,20}`;
const pid = `(?<pid>-?${number}(?:/-?${number})?)${gap}`;
const cpu = String.raw`(?:(?<cpu>\[${number}\])${gap})?`;
/** Modes of -F misc: kernel, user, hypervisor, guest. */
const misc = `(?:[KUHGgMESp]{1,6}${gap})?`;
const date = String.raw`(?:(?<date>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.${number})${gap})?`;
const time = String.raw`(?:(?<time>${number}\.${number}):${gap})?`;
const event = String.raw`(?:${number}${gap})?(?:(?!${number}\.${number}:)(?<event>\S{1,512}):(?<rest>\s.*)?)?$`;
const placed = `${cpu}${misc}${date}${time}${event}`;
const command = String.raw`^\s*(?<command>\S.{0,63}?)${gap}`;
const numbered = new RegExp(`${command}${pid}${placed}`);
const unnumbered = new RegExp(`${command}${cpu}${date}${time}${event}`);
const nameless$1 = new RegExp(String.raw`^\s{0,64}(?:${pid})?${placed}`);
/** `perf script -L` sets the command in 8 columns, the process in 5 or more, and the CPU in 3 without brackets. */
const latency = new RegExp(String.raw`^(?:(?<command>.{8}) )?(?=[ \d]{4}[\d/])(?<pid> {0,6}\d{1,10}(?:/\d{1,10} {0,6})?) ` + String.raw`(?<cpu> {2}\d| \d\d|\d{3,5}) (?=.*:)\s{0,64}${date}${time}${event}`);
function latencyHead(text) {
	const head = headOf(latency.exec(text));
	if (head?.command === void 0) return head;
	const command = head.command.trim();
	return command === "" ? void 0 : {
		...head,
		command
	};
}
/** Reads a head without a command, which begins with a number, a CPU or a time. */
function placedHead(text) {
	const match = nameless$1.exec(text);
	const { pid, cpu, date, time } = match?.groups ?? {};
	return (pid ?? cpu ?? date ?? time) === void 0 ? void 0 : headOf(match);
}
/** Requires an address after an event, or a tracepoint with its fields: words before a colon may be any text. */
function eventHead(text) {
	const head = headOf(nameless$1.exec(text));
	if (head?.event === void 0) return void 0;
	const { event, rest } = head;
	return rest === "" || /^\s+[\da-f]{6,16}(?: |$)/.test(rest) || /^\w+:\w+$/.test(event) ? {
		...head,
		isSure: true
	} : void 0;
}
function headOf(match) {
	if (match === null) return void 0;
	const { command, pid, cpu, date, time, event, rest = "" } = match.groups ?? {};
	return {
		rest,
		isSure: (cpu ?? date ?? time) !== void 0 || pid !== void 0 && event !== void 0,
		...command !== void 0 && { command },
		...event !== void 0 && { event }
	};
}

// src/analysis/profile/perf-script.ts
/** True for sample heads, frames with addresses, records, and perf's own comments. */
function isPerfScriptLine(line) {
	if (isComment(line)) return /^# (?:perf version|captured on)\b/.test(line);
	if (isFrameOfModule(line) || isAddressLine(line) || isRecord(line)) return true;
	const head = headIn(line);
	return head?.isSure === true && head.command !== void 0;
}
const isFrameOfModule = (line) => line.endsWith(")") && /^\s+[\da-f]+ \S.* \(./.test(line.slice(0, -1));
/**
* Accepts a frame's address, 16 columns after a tab, or the address of a sample without a call chain, after a blank.
*/
const isAddressLine = (line) => /^\t[ \da-f]{15}[\da-f](?: \S|\s*$)/.test(line) || isLoneAddress(line) || / [ \da-f]{15}[\da-f] \S/.test(headBeforeAddress(line)?.rest ?? "");
const isLoneAddress = (line) => /^ [ \da-f]{15}[\da-f](?: \S|\s*$)/.test(line);
/** True for a mapping, a fork, a switch, a lost record, and those of later releases. */
const isRecord = (line) => /^(?:[^\t].*\s)?PERF_RECORD_[A-Z]/.test(line);
/**
* Merges equal stacks, with the command, if known, as the outermost frame; a sample counts as one, with any period.
* Drops offsets into functions; counts the lines that it skips: records, sources, branches, registers.
* @throws ProfileError without any sample, and for a stack whose head cannot be recognized.
*/
function perfScriptParser(name, bounds) {
	const reader = new PerfScriptReader(name, bounds);
	return {
		take(bytes) {
			for (const line of linesOf(bytes, name)) reader.takeLine(line);
		},
		end(unfinished) {
			const rest = unfinished?.toString().trimEnd() ?? "";
			if (/^\s/.test(rest)) reader.takeLine(rest);
			const { about, kernel, stacks, notes } = reader.end();
			return {
				profile: {
					format: "perf",
					...about,
					...kernel !== void 0 && { kernel },
					stacks
				},
				notes: unfinished === void 0 ? notes : [...notes, cutNote(name, lastLineCut)]
			};
		}
	};
}
var PerfScriptReader = class {
	#name;
	#bounds;
	#frameOf;
	#stacks;
	#events = /* @__PURE__ */ new Set();
	#skipped = new SkippedLines();
	#kernel;
	#line = 0;
	#sample;
	/** First samples with a certain head, with another head, and without any: a file has one kind. */
	#firsts = {};
	/** A first stack without a head is complete only if the other stacks have no heads either. */
	#beginning;
	/** Lines with an indent continue a record. */
	#isInRecord = false;
	#samples = 0;
	#withoutStack = 0;
	constructor(name, bounds) {
		this.#name = name;
		this.#bounds = bounds;
		this.#frameOf = frameTable(name, bounds);
		this.#stacks = stackTable(name, bounds);
	}
	takeLine(line) {
		this.#line += 1;
		if (isBlank(line)) this.#takeBlank();
		else if (isComment(line)) this.#takeComment(line);
		else if (isRecord(line)) this.#takeRecord(line);
		else if (line.startsWith("	")) this.#takeFrame(line);
		else this.#takeWords(line);
	}
	/** Continues a stack with a head after a blank line, as the text of some tracepoints ends in one. */
	#takeBlank() {
		if (this.#sample?.head === void 0) this.#endSample();
		this.#isInRecord = false;
	}
	#takeComment(line) {
		if (this.#samples === 0) this.#kernel ??= kernelIn(line);
	}
	#takeRecord(line) {
		this.#endSample();
		this.#isInRecord = true;
		this.#skip(line);
	}
	#takeWords(line) {
		const head = headIn(line);
		const isIndented = line.startsWith(" ");
		if (head?.isSure === true) this.#takeHead(line, head);
		else if (isLoneAddress(line)) this.#takeLoneFrame(line);
		else if (isIndented && isNumbers(line)) this.#takeHead(line, {
			rest: "",
			isSure: false
		});
		else this.#takeOther(line, headBeforeAddress(line));
	}
	#takeOther(line, head) {
		if (head !== void 0) this.#takeHead(line, head);
		else if (line.startsWith(" ")) this.#takeFrame(line);
		else if (this.#continuesHead()) this.#skip(line);
		else this.#takeHead(line, headIn(line) ?? {
			rest: "",
			isSure: false,
			isUnclear: true
		});
	}
	/** The text of a tracepoint may have several lines. */
	#continuesHead() {
		const { head, frames = [], headEnd = 0 } = this.#sample ?? {};
		const isOpen = head?.isSure === true && frames.length === 0 && head.rest !== "";
		if (this.#sample === void 0 || !isOpen || headEnd !== this.#line - 1) return false;
		this.#sample.headEnd = this.#line;
		return true;
	}
	#takeHead(text, head) {
		this.#endSample();
		this.#isInRecord = false;
		this.#sample = {
			head,
			line: this.#line,
			headEnd: this.#line,
			text,
			frames: []
		};
		const found = frameAfterHead(head.rest);
		if (found !== void 0) this.#addFrame(this.#sample, found);
	}
	#takeLoneFrame(line) {
		const isAlone = this.#sample?.head === void 0;
		if (isAlone) this.#endSample();
		this.#takeFrame(line);
		if (isAlone) this.#endSample();
	}
	#takeFrame(line) {
		const found = this.#isInRecord ? void 0 : frameIn(line);
		if (found === void 0 || this.#lacksHead()) {
			this.#skip(line);
			return;
		}
		this.#sample ??= {
			line: this.#line,
			headEnd: 0,
			text: line,
			frames: []
		};
		this.#addFrame(this.#sample, found);
	}
	/** If the file has heads, frames without one belong to something else. */
	#lacksHead() {
		return this.#sample === void 0 && (this.#firsts.sure ?? this.#firsts.unsure) !== void 0;
	}
	#addFrame(sample, { name, module }) {
		sample.frames.push(this.#frameOf(name, module));
		checkDepth(sample.frames.length, this.#name, this.#bounds);
	}
	#skip(text) {
		this.#skipped.add(this.#line, text);
	}
	#endSample() {
		const sample = this.#sample;
		this.#sample = void 0;
		if (sample === void 0) return;
		const { head, frames, line, text } = sample;
		if (!(frames.length > 0 || head?.isSure === true && head.command !== void 0)) {
			this.#skipped.add(line, text);
			return;
		}
		this.#checkKind(sample);
		if (sample !== this.#beginning) this.#count(sample);
	}
	#checkKind(sample) {
		if (sample.head?.isUnclear === true) this.#refuse(sample);
		const kind = sample.head === void 0 ? "headless" : sample.head.isSure ? "sure" : "unsure";
		if (Object.keys(this.#firsts).length === 0 && kind === "headless") this.#beginning = sample;
		else this.#endBeginning(kind);
		this.#firsts[kind] ??= sample;
		const { sure, unsure, headless } = this.#firsts;
		const unclear = headless === void 0 ? sure && unsure : sure ?? unsure;
		if (unclear !== void 0) this.#refuse(unclear);
	}
	#endBeginning(kind) {
		const beginning = this.#beginning;
		if (beginning === void 0) return;
		this.#beginning = void 0;
		if (kind === "headless") {
			this.#count(beginning);
			return;
		}
		delete this.#firsts.headless;
		for (let at = 0; at < beginning.frames.length; at += 1) this.#skipped.add(beginning.line, beginning.text);
	}
	#refuse({ line, text }) {
		throw new ProfileError(`${this.#name}, line ${line}: "${shortened$1(text)}" is no head of a sample like the others; remove the line with its stack, or print all with perf script and one -F.`);
	}
	#count({ head, frames }) {
		this.#samples += 1;
		if (frames.length === 0) this.#withoutStack += 1;
		if (head?.event !== void 0) this.#events.add(head.event);
		const command = head?.command;
		this.#stacks.add(command === void 0 ? frames : [...frames, this.#frameOf(command)]);
	}
	end() {
		this.#endSample();
		this.#endBeginning("headless");
		const notes = this.#skipped.notes(this.#name);
		if (this.#samples === 0) {
			const problem = `${this.#name} is of perf but holds no sample; record again, for longer, and print it with perf script.`;
			throw new ProfileError([problem, ...notes].join(" "));
		}
		const { about, notes: eventNotes } = eventsOf(this.#events, this.#name);
		return {
			about,
			kernel: this.#kernel,
			stacks: this.#stacks.all,
			notes: [
				...eventNotes,
				...this.#stackNotes(),
				...notes
			]
		};
	}
	#stackNotes() {
		if (this.#withoutStack === 0) return [];
		return [`${`${grouped(this.#withoutStack)} of ${grouped(this.#samples)} samples`} in ${this.#name} have no stack, and count for their command alone.`];
	}
};
/** True for a head with only a process, its CPU or a period; the address of a frame begins further right. */
const isNumbers = (line) => /^ {1,9}-?\d{1,10}(?:\/-?\d{1,10})?(?: {1,10}\d{1,10})?\s*$/.test(line);
/** Merges stacks with equal frames, in order of first appearance. */
function stackTable(name, bounds) {
	const numbers = /* @__PURE__ */ new Map();
	const known = /* @__PURE__ */ new Map();
	const stacks = stackList(name, bounds);
	function numberOf(frame) {
		const number = numbers.get(frame) ?? numbers.size;
		if (number === numbers.size) numbers.set(frame, number);
		return number;
	}
	return {
		all: stacks.all,
		add(innermostFirst) {
			const key = innermostFirst.map(numberOf).join(" ");
			const stack = known.get(key) ?? {
				frames: innermostFirst.toReversed(),
				samples: 0
			};
			if (stack.samples === 0) {
				known.set(key, stack);
				stacks.add(stack);
			}
			stack.samples += 1;
		}
	};
}

// src/analysis/profile/byte-table.ts
/** Keeps the last text of each slot. Calls `make` again after a collision and for long texts, so it must be pure. */
var ByteTable = class {
	#make;
	/** A single array, as a small object for each text is slower to reach. */
	#texts = new Uint8Array(slots * slotBytes);
	/** Zero without a text. */
	#lengths = new Uint8Array(slots);
	/** With its length, as an array that grows with gaps becomes a slow map. */
	#values = new Array(slots);
	constructor(make) {
		this.#make = make;
	}
	/** Reads at least one byte. */
	get(bytes, start, end) {
		const length = end - start;
		const slot = slotOf(bytes, start, end);
		if (this.#lengths[slot] === length && this.#isAt(slot * slotBytes, bytes, start, end)) return this.#values[slot];
		const value = this.#make(bytes.toString("utf8", start, end));
		if (length > slotBytes) return value;
		this.#texts.set(bytes.subarray(start, end), slot * slotBytes);
		this.#lengths[slot] = length;
		this.#values[slot] = value;
		return value;
	}
	#isAt(place, bytes, start, end) {
		const texts = this.#texts;
		const offset = place - start;
		for (let at = start; at < end; at += 1) if (texts[offset + at] !== bytes[at]) return false;
		return true;
	}
};
const slots = 2 ** 15;
/** Most functions of kernels have shorter names. */
const slotBytes = 64;
/** The upper bits of a product by 2^32 over the golden ratio depend on all bytes. */
function slotOf(bytes, start, end) {
	let hash = 0;
	for (let at = start; at < end; at += 1) hash = Math.imul(hash, 31) + (bytes[at] ?? 0) | 0;
	return Math.imul(hash, 2654435761) >>> 17;
}

// src/analysis/profile/pmcstat-graph.ts
/**
* Makes a stack of each line without callers, with that line's samples. Like stackcollapse-pmc.pl, skips other lines,
* but counts them. pmcstat names a module only if it differs from the previous line.
* @throws ProfileError if no line is a sample, or a number is too large.
*/
function pmcstatGraphParser(name, bounds, sink) {
	const reader = new CallGraphReader(name, bounds, sink);
	return {
		take(bytes) {
			reader.take(bytes);
		},
		end(unfinished) {
			return reader.end(unfinished);
		}
	};
}
var CallGraphReader = class {
	#name;
	#bounds;
	#frameOf;
	#names = new ByteTable((name) => ({ name }));
	/** By the text after the name. */
	#modules = new ByteTable((afterName) => / @ (.*\S)/.exec(afterName)?.[1]);
	#stacks;
	#sink;
	#events = /* @__PURE__ */ new Set();
	#skipped = new SkippedLines();
	/** From the sampled function to the caller in the last line, by indent. */
	#branch = [];
	#depth = -1;
	#samples = 0;
	#module;
	#kernel;
	#lines = 0;
	#announced = 0;
	#held = 0;
	#isCut = false;
	constructor(name, bounds, sink) {
		this.#name = name;
		this.#bounds = bounds;
		this.#frameOf = frameTable(name, bounds);
		this.#stacks = stackList(name, bounds);
		this.#sink = sink;
	}
	take(bytes) {
		for (let start = 0; start < bytes.length;) {
			this.#lines += 1;
			start = (bytes[start] === newline ? start : this.#takeLine(bytes, start)) + 1;
		}
	}
	/** Takes `INDENT SHARE%  [SAMPLES]   NAME @ MODULE`; shares and names are any text. Returns the end of the line. */
	#takeLine(bytes, start) {
		const indentEnd = skipSpaces(bytes, start);
		const shareEnd = skip(bytes, indentEnd, share);
		if (shareEnd === indentEnd || !startsCount(bytes, shareEnd)) return this.#takeOther(bytes, start);
		const countStart = shareEnd + 4;
		const countEnd = skip(bytes, countStart, digit);
		if (!(countEnd > countStart && bytes[countEnd] === closingBracket)) return this.#takeOther(bytes, start);
		const nameStart = skip(bytes, skipSpaces(bytes, countEnd + 1), blank);
		const nameEnd = skip(bytes, nameStart, inName);
		if (nameEnd === nameStart) return this.#takeOther(bytes, start);
		const lineEnd = this.#endOfLine(bytes, start, nameEnd);
		const depth = indentEnd - start;
		if (depth <= this.#depth) this.#endBranch();
		if (depth === 0) this.#module = void 0;
		if (nameEnd < lineEnd) this.#module = this.#modules.get(bytes, nameEnd, lineEnd) ?? this.#module;
		this.#startBranch(depth, this.#frameIn(this.#names.get(bytes, nameStart, nameEnd)));
		this.#samples = this.#countIn(bytes, countStart, countEnd);
		if (depth === 0) this.#held += this.#samples;
		return lineEnd;
	}
	#endOfLine(bytes, start, from) {
		const end = bytes[from] === newline ? from : bytes.indexOf(newline, from);
		checkLine(end - start, this.#name);
		return end;
	}
	#endBranch() {
		const depth = this.#depth + 1;
		const samples = this.#samples;
		this.#stacks.count(depth);
		if (this.#sink?.take(this.#branch, depth, samples) === true) return;
		this.#stacks.all.push({
			frames: this.#branch.slice(0, depth).reverse(),
			samples
		});
	}
	#frameIn(named) {
		if (named.frame === void 0 || named.frame.module !== this.#module) named.frame = this.#frameOf(named.name, this.#module);
		return named.frame;
	}
	#startBranch(depth, frame) {
		checkDepth(depth + 1, this.#name, this.#bounds);
		while (this.#branch.length < depth) this.#branch.push(nameless);
		this.#branch[depth] = frame;
		this.#depth = depth;
	}
	#countIn(bytes, start, end) {
		if (end - start > exactDigits) return sampleCount(bytes.toString("latin1", start, end), this.#place());
		let count = 0;
		for (let at = start; at < end; at += 1) count = count * 10 + (bytes[at] ?? 0) - zero;
		return count;
	}
	#takeOther(bytes, start) {
		const end = this.#endOfLine(bytes, start, start);
		const text = bytes.toString("utf8", start, end);
		const [, event, count] = /^@ (\S.*) \[(\d+) samples\]/.exec(text) ?? [];
		if (event !== void 0 && count !== void 0) {
			this.#events.add(event);
			this.#announced += sampleCount(count, this.#place());
		}
		if (this.#depth === -1) this.#kernel ??= kernelIn(text);
		if (!(event !== void 0 || isBlank(text) || isComment(text)) && !this.#isCut) this.#skipped.add(this.#lines, text);
		return end;
	}
	#place() {
		return `${this.#name}, line ${this.#lines}`;
	}
	end(unfinished) {
		const name = this.#name;
		this.#isCut = unfinished !== void 0;
		if (unfinished !== void 0) this.take(unfinished);
		if (this.#depth === -1) throw new ProfileError(`${name} is a call graph of pmcstat without a sample in it; profile again, for longer and while there is traffic.`);
		this.#endBranch();
		const { about, notes } = eventsOf(this.#events, name);
		const how = this.#announced > this.#held ? `with ${this.#held} of the ${this.#announced} samples that it announces` : unfinished && "its last line has no end";
		return {
			profile: {
				format: "pmcstat",
				...about,
				...this.#kernel !== void 0 && { kernel: this.#kernel },
				stacks: this.#stacks.all
			},
			notes: [
				...notes,
				...this.#skipped.notes(name),
				...how === void 0 ? [] : [cutNote(name, how)]
			]
		};
	}
};
const nameless = { name: "" };
const startsCount = (bytes, at) => bytes[at] === percent && bytes[at + 1] === space$1 && bytes[at + 2] === space$1 && bytes[at + 3] === openingBracket;
const percent = 37;
const space$1 = 32;
const openingBracket = 91;
const closingBracket = 93;
const newline = 10;
const zero = 48;
const exactDigits = 15;
const [digit, share, blank, inName] = [
	1,
	2,
	4,
	8
];
/** Line ends have no kind, so that no scan leaves its line. */
const kinds = Uint8Array.from({ length: 256 }, (_, byte) => {
	const character = String.fromCharCode(byte);
	const isSpacing = /[ \t\n\v\f\r]/.test(character);
	return (/\d/.test(character) ? digit : 0) | (/[\d.]/.test(character) ? share : 0) | (isSpacing && byte !== newline ? blank : 0) | (isSpacing ? 0 : inName);
});
function skipSpaces(bytes, from) {
	let at = from;
	while (bytes[at] === space$1) at += 1;
	return at;
}
function skip(bytes, from, kind) {
	let at = from;
	while (((kinds[bytes[at] ?? newline] ?? 0) & kind) !== 0) at += 1;
	return at;
}

// src/analysis/profile/read-profile.ts
/**
* `name` identifies the file in errors and notes. Passes stacks of a call graph to the sink.
*
* @throws ProfileError if the bytes are no profile, or cannot be counted.
*/
async function readProfile(pieces, name, sink) {
	const reading = startReading(name, ownBounds, sink);
	for await (const piece of pieces) reading.take(piece);
	return reading.end();
}
/** @throws ProfileError as readProfile does. */
function parseProfile(text, name = "the profile", bounds = ownBounds) {
	const reading = startReading(name, bounds);
	reading.take(Buffer.from(text));
	return reading.end().profile;
}
const headBytes = 65536;
function startReading(givenName, bounds, sink) {
	const name = givenName.replace(/\p{Cc}/gu, "?");
	let parser;
	let unread = Buffer.alloc(0);
	function takeLines(given) {
		const bytes = parser === void 0 ? withoutMark(given) : given;
		parser ??= parserFor(bytes, name, bounds, sink);
		const end = bytes.lastIndexOf("\n") + 1;
		parser.take(bytes.subarray(0, end));
		unread = bytes.subarray(end);
		checkLine(unread.length, name);
	}
	return {
		take(piece) {
			const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.length);
			const end = bytes.indexOf("\n") + 1;
			if (parser === void 0 || end === 0) {
				unread = Buffer.concat([unread, bytes]);
				if (unread.length >= headBytes) takeLines(unread);
				return;
			}
			takeLines(Buffer.concat([unread, bytes.subarray(0, end)]));
			takeLines(bytes.subarray(end));
		},
		end() {
			if (unread.length > 0) takeLines(unread);
			const unfinished = unread.length === 0 ? void 0 : Buffer.concat([unread, lineEnd]);
			if (parser === void 0) throw empty(name);
			const read = parser.end(unfinished);
			const { stacks } = read.profile;
			if (stacks.length + (sink?.stacks ?? 0) === 0) throw noProfile(name, []);
			checkCharacters(stacks, name, bounds);
			if (Number.isSafeInteger(samplesOf(stacks) + (sink?.samples ?? 0))) return read;
			throw new ProfileError(`The samples of ${name} add up to more than can be counted exactly; profile for a shorter time.`);
		}
	};
}
const lineEnd = Buffer.from("\n");
/** Some editors begin a text with a byte order mark. */
const withoutMark = (bytes) => bytes.subarray(0, byteOrderMark.length).equals(byteOrderMark) ? bytes.subarray(byteOrderMark.length) : bytes;
const byteOrderMark = Buffer.from("﻿");
function parserFor(head, name, bounds, sink) {
	refuseBinary(head, name);
	const lines = head.toString("utf8", 0, headBytes).split("\n");
	if (lines.every(isBlank)) throw empty(name);
	if (lines.some(isCallGraphLine)) return pmcstatGraphParser(name, bounds, sink);
	if (lines.some(isPerfScriptLine)) return perfScriptParser(name, bounds);
	const words = lines.filter((line) => !isBlank(line) && !isComment(line));
	if (isFolded(words)) return foldedParser(name, bounds);
	throw noProfile(name, words);
}
/**
* Rejects fractions, which are no counts, for the parser of folded stacks; a single one may be a version in a sentence.
*/
const isFolded = ([first = "", ...others]) => isFoldedLine(first) || isFractionLine(first) && (first.includes(";") || others.some(isFoldedLine));
const isCallGraphLine = (line) => /^@ \S.* \[\d+ samples\]/.test(line) || /^ *[\d.]+% {2}\[\d+\]/.test(line);
function refuseBinary(head, name) {
	if (/^PERF(?:ILE2|FILE)/.test(head.toString("latin1", 0, 8))) throw new ProfileError(`${name} is a recording of perf; print it with perf script -i ${name} and read that.`);
	const known = compressions.find(({ magic }) => head.subarray(0, magic.length).equals(Buffer.from(magic)));
	if (known !== void 0) throw new ProfileError(`${name} is compressed; unpack it with ${known.program} -dc ${name}.`);
	if (head[3] === 238) throw new ProfileError(`${name} is a raw log of hwpmc; print its call graph with pmcstat -R ${name} -z 100 -G FILE, on FreeBSD, and read FILE.`);
	if (head.subarray(0, headBytes).includes(0)) throw new ProfileError(`${name} is binary and no profile that is known here; ${expectation}.`);
}
const compressions = [
	{
		magic: [31, 139],
		program: "gzip"
	},
	{
		magic: [
			253,
			55,
			122,
			88,
			90
		],
		program: "xz"
	},
	{
		magic: [
			40,
			181,
			47,
			253
		],
		program: "zstd"
	}
];
const expectation = "give what pmcstat -G or perf script printed, or folded stacks like \"main;read 12\"";
const empty = (name) => new ProfileError(`${name} is empty; ${expectation}.`);
function noProfile(name, [first]) {
	const begun = first === void 0 ? "" : `, it begins with "${shortened$1(first)}"`;
	return new ProfileError(`${name} is not a profile that is known here${begun}; ${expectation}.`);
}

// src/analysis/profile/fold.ts
/**
* Prints a line per stack, in file order, and merges equal ones of perf. With `modules` a frame is written as in
* DTrace: if_cxgbe.ko`t4_eth_rx. Replaces characters that would split a line or control a terminal: `;` by `:`, control
* characters by `?`, and a first `#`, which would make a comment.
*
* Copies the bytes of names: strings take four times as long. A piece holds whole lines.
*/
function* foldedPieces({ format, stacks }, { modules = false } = {}) {
	const labelOf = labels(modules);
	const lines = lineWriter(labelOf);
	for (const stack of format === "perf" ? merged(stacks, labelOf) : stacks) {
		lines.add(stack.frames.toReversed(), stack.frames.length, stack.samples);
		if (lines.bytes >= pieceBytes) yield lines.end();
	}
	yield lines.end();
}
const pieceBytes = 262144;
/** Folds the stacks of a call graph during reading, up to a few hundred megabytes. */
var FoldedText = class {
	stacks = 0;
	samples = 0;
	#options;
	#lines;
	#pieces = [];
	#bytes = 0;
	constructor(options = {}) {
		this.#options = options;
		this.#lines = lineWriter(labels(options.modules ?? false));
	}
	take(frames, count, samples) {
		if (this.#bytes > maxTextBytes) return false;
		this.stacks += 1;
		this.samples += samples;
		this.#lines.add(frames, count, samples);
		if (this.#lines.bytes >= pieceBytes) {
			this.#bytes += this.#lines.bytes;
			this.#pieces.push(this.#lines.end());
		}
		return true;
	}
	/** Yields the lines of `foldedPieces` for all stacks; `kept` has the rest. */
	*pieces(kept) {
		yield* this.#pieces;
		yield this.#lines.end();
		yield* foldedPieces(kept, this.#options);
	}
};
const maxTextBytes = 256 * 1024 ** 2;
const lineWriter = (labelOf) => new LineWriter(remembered((frame) => Buffer.from(`${labelOf(frame)};`)));
/** Space for 17 digits, a sign and a line end, with some to spare. */
const maxCountBytes = 32;
/** Copies the common end of a line from the line before: in a call graph, most stacks differ in their callers alone. */
var LineWriter = class {
	/** Labels with the semicolon after them. */
	#labelOf;
	#piece = Buffer.allocUnsafe(2 * pieceBytes);
	bytes = 0;
	/** The last line, from the sampled function; zero `#count` if there is nothing to copy. */
	#frames = [];
	#count = 0;
	#labelsEnd = 0;
	/** By number of frames, from the sampled function: the bytes of their labels. */
	#labelBytes = [0];
	#newLabels = [];
	constructor(labelOf) {
		this.#labelOf = labelOf;
	}
	/** Adds the line of a stack, with the parameters of `StackSink`. */
	add(frames, count, samples) {
		let shared = 0;
		while (shared < count && shared < this.#count && frames[shared] === this.#frames[shared]) shared += 1;
		const sharedBytes = this.#labelBytes[shared] ?? 0;
		let bytes = sharedBytes;
		for (let index = shared; index < count; index += 1) {
			const frame = frames[index];
			const label = this.#labelOf(frame);
			this.#frames[index] = frame;
			this.#newLabels[index] = label;
			bytes += label.length;
			this.#labelBytes[index + 1] = bytes;
		}
		const start = this.bytes;
		if (start + bytes + maxCountBytes > this.#piece.length) this.#grow(bytes);
		const piece = this.#piece;
		let end = start;
		for (let index = count - 1; index >= shared; index -= 1) {
			const label = this.#newLabels[index];
			piece.set(label, end);
			end += label.length;
		}
		piece.copyWithin(end, this.#labelsEnd - sharedBytes, this.#labelsEnd);
		end += sharedBytes;
		this.#count = count;
		this.#labelsEnd = end;
		piece[end - 1] = space;
		this.bytes = writeText(`${samples}\n`, piece, end);
		if (piece[start] !== numberSign || !isComment(piece.toString("utf8", start, end))) return;
		piece[start] = questionMark;
		this.#count = 0;
	}
	#grow(more) {
		const larger = Buffer.allocUnsafe(2 * (this.bytes + more + maxCountBytes));
		this.#piece.copy(larger, 0, 0, this.bytes);
		this.#piece = larger;
	}
	/** Returns the lines since the last call. */
	end() {
		const lines = this.#piece.subarray(0, this.bytes);
		this.#piece = Buffer.allocUnsafe(2 * pieceBytes);
		this.bytes = 0;
		this.#count = 0;
		return lines;
	}
};
/** Returns the end; a call of `write` takes longer. */
function writeText(ascii, to, start) {
	for (let index = 0; index < ascii.length; index += 1) to[start + index] = ascii.charCodeAt(index);
	return start + ascii.length;
}
const space = 32;
const numberSign = 35;
const questionMark = 63;
/** Yields the lines of `foldedPieces`, without their ends. */
function* foldedLines(profile, options) {
	for (const piece of foldedPieces(profile, options)) if (piece.length > 0) yield* piece.toString("utf8", 0, piece.length - 1).split("\n");
}
/** Names frames in their printed form. */
const labels = (modules) => remembered((frame) => labelOf(frame, modules));
function labelOf({ name, module }, modules) {
	const file = module?.slice(module.lastIndexOf("/") + 1);
	return (modules && file !== void 0 ? `${file}\`${name}` : name).replaceAll(";", ":").replace(/[\p{Cc}\u2028\u2029]/gu, "?");
}
/** Merges stacks with equal text. */
function merged(stacks, labelOf) {
	const byText = /* @__PURE__ */ new Map();
	for (const { frames, samples } of stacks) {
		const text = frames.map(labelOf).join(";");
		const known = byText.get(text);
		if (known === void 0) byText.set(text, {
			frames,
			samples
		});
		else known.samples += samples;
	}
	return byText.values();
}

// src/analysis/profile/kept-flamegraph.ts
/**
* Returns the drawing with this version's style and script instead of its own. Undefined for a drawing with any element
* or attribute that `flamegraph` does not draw, such as another script or a link.
*/
function keptFlamegraph(svg) {
	if (!isDrawn(svg.replace(style, "\n").replace(script, "\n"))) return void 0;
	return svg.replace(style, () => `<style><![CDATA[${flamegraphStyle()}]]></style>`).replace(script, () => `<script><![CDATA[${flamegraphScript()}]]><\/script>`);
}
const style = /<style><!\[CDATA\[.*?\]\]><\/style>/s;
const script = /<script><!\[CDATA\[.*?\]\]><\/script>/s;
/** In XML each `<` begins a tag, a comment, an instruction or a CDATA section; `flamegraph` draws only tags. */
function isDrawn(drawing) {
	for (let at = drawing.indexOf("<"); at !== -1; at = drawing.indexOf("<", tag.lastIndex)) {
		tag.lastIndex = at;
		if (!tag.test(drawing)) return false;
	}
	return true;
}
const tag = /<\/?(?:svg|g|title|text|rect|metadata)(?: xmlns="http:\/\/www\.w3\.org\/2000\/svg"| (?:class|role|aria-label|width|height|viewBox|transform|x|y|text-anchor)="[^"<]*")*\/?>/y;

export { FoldedText, ProfileError, explain, flamegraph, flamegraphScript, flamegraphStyle, foldedLines, foldedPieces, foreignBounds, keptFlamegraph, labels, layout, moduleName, parseProfile, readProfile, samplesOf, withoutIdle };