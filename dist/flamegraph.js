import { t as escaped } from "./xml.js";
import { n as samplesOf, t as ProfileError } from "./profile-error.js";

// src/profile/flamegraph-layout.ts
/**
* Siblings by name, as wide as their samples of one of the two. The same path in both is one box, by its names alone.
* Too narrow boxes are not followed further: large profiles have most of their paths in there.
*
* @throws ProfileError for more boxes than anybody can look at.
*/
function layout(stacks, by, { pixelsPerSample, leastPixels }) {
	const root = boxOf({ name: "all" });
	for (const stack of stacks.profile) add(root, "profile", stack);
	for (const stack of stacks.base) add(root, "base", stack);
	root.width = root.samples[by] * pixelsPerSample;
	const isDrawn = ({ width }) => width >= leastPixels;
	const rows = [];
	let hiddenSamples = isDrawn(root) ? 0 : root.samples[by];
	let boxes = 0;
	for (let row = [root].filter(isDrawn); row.length > 0;) {
		rows.push(row);
		boxes += row.length;
		if (boxes > mostBoxes) throw tooMany;
		const above = row.flatMap((box) => callees(box, rows.length - 1, {
			by,
			pixelsPerSample
		}));
		row = above.filter(isDrawn);
		for (const box of above) hiddenSamples += isDrawn(box) ? 0 : box.samples[by];
	}
	return {
		rows,
		samples: root.samples[by],
		hiddenSamples
	};
}
/** A row has 12,000 at most, and published profiles of kernels some 300 in all; a browser is slow with more than these. */
const mostBoxes = 1e5;
const tooMany = new ProfileError(`A flamegraph of more than ${mostBoxes} frames is not drawn; fold the profile, and draw a part of it.`);
const boxOf = (frame) => ({
	name: frame.name,
	module: moduleName(frame),
	samples: {
		profile: 0,
		base: 0
	},
	stacks: {
		profile: [],
		base: []
	},
	x: 0,
	width: 0
});
/** `ipfw.ko` of `/boot/kernel/ipfw.ko`. */
const moduleName = (frame) => frame?.module?.slice(frame.module.lastIndexOf("/") + 1);
function add({ samples, stacks }, source, stack) {
	samples[source] += stack.samples;
	stacks[source].push(stack);
}
/** What the function at a depth called, side by side. */
function callees(caller, depth, { by, pixelsPerSample }) {
	const boxes = /* @__PURE__ */ new Map();
	for (const stack of caller.stacks.profile) addTo(boxes, "profile", stack, depth);
	for (const stack of caller.stacks.base) addTo(boxes, "base", stack, depth);
	const sorted = [...boxes.values()].sort((a, b) => a.name < b.name ? -1 : 1);
	let x = caller.x;
	for (const box of sorted) {
		box.x = x;
		box.width = box.samples[by] * pixelsPerSample;
		x += box.width;
	}
	return sorted;
}
function addTo(boxes, source, stack, depth) {
	const frame = stack.frames[depth];
	if (frame === void 0) return;
	const box = boxes.get(frame.name) ?? boxOf(frame);
	boxes.set(frame.name, box);
	add(box, source, stack);
}
/** The stacks of the base with a path that the profile does not have. */
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

// src/profile/flamegraph-script.ts
/** Takes all it tells from the drawing; text of a profile only ever goes through `textContent`. */
const flamegraphScript = String.raw`
(() => {
  'use strict';
  const margin = 10, characterWidth = 6.63, svgSpace = 'http://www.w3.org/2000/svg';

  const start = () => document.querySelectorAll('svg.ppsgate-flamegraph').forEach(view);
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', start);
  else start();

  function view(svg) {
    const header = svg.querySelector('.header'), body = svg.querySelector('.body');
    const { width: drawnWidth, height: drawnHeight } = svg.viewBox.baseVal;
    const bodyHeight = drawnHeight - body.transform.baseVal[0].matrix.f;
    const panels = [...svg.querySelectorAll('.flames')].map(panelOf);
    if (panels.length === 0) return;
    const frames = new Map();
    for (const panel of panels) for (const frame of panel.frames) frames.set(frame.element, frame);
    const frameAt = (target) => frames.get(target.closest('g'));
    const bar = barOf(svg);
    let width = 0, barTop = 0, focused;

    svg.removeAttribute('viewBox');
    svg.style.width = '100%';
    // Of its own file it would be a stop of the Tab key.
    svg.setAttribute('tabindex', '-1');
    panels.forEach(({ frames: [root] }) => reach(root));
    new ResizeObserver(fit).observe(svg);
    fit();
    tell();

    svg.addEventListener('click', ({ target }) => zoom(frameAt(target)));
    svg.addEventListener('pointerover', ({ target }) => tell(frameAt(target) ?? focused));
    svg.addEventListener('pointerleave', () => tell(focused));
    svg.addEventListener('focusin', ({ target }) => tell((focused = frameAt(target))));
    svg.addEventListener('focusout', () => tell((focused = undefined)));
    svg.addEventListener('keydown', move);
    bar.input.addEventListener('input', search);
    bar.reset.addEventListener('click', reset);
    document.addEventListener('keydown', command);
    document.addEventListener('scroll', follow, { capture: true, passive: true });

    /** To the width that there is; none while it is folded away. */
    function fit() {
      const room = svg.getBoundingClientRect().width;
      if (room === 0 || room === width) return;
      width = room;
      barTop = arranged(header, width - 2 * margin) + 4;
      const barHeight = width < 640 ? 72 : 40;
      const bodyTop = barTop + barHeight + 6;
      bar.box.setAttribute('width', width);
      bar.box.setAttribute('height', barHeight);
      body.setAttribute('transform', 'translate(' + margin + ' ' + bodyTop + ')');
      svg.style.height = bodyTop + bodyHeight + 'px';
      panels.forEach(draw);
      follow();
    }

    /** The bar stays in sight while the flames are. */
    function follow() {
      const { top, height } = svg.getBoundingClientRect();
      const most = height - bar.box.height.baseVal.value;
      bar.box.setAttribute('y', Math.max(barTop, Math.min(-top, most)));
    }

    function draw({ frames, zoomed }) {
      const room = width - 2 * margin;
      const scale = room / (zoomed ? zoomed.width : drawnWidth - 2 * margin);
      const callers = new Set();
      for (let frame = zoomed?.parent; frame; frame = frame.parent) callers.add(frame);
      for (const frame of frames) {
        const isCaller = callers.has(frame);
        frame.isIn = frame === zoomed || (frame.parent ? frame.parent.isIn : !zoomed);
        frame.element.classList.toggle('below', isCaller);
        frame.element.classList.toggle('out', !isCaller && !frame.isIn);
        if (isCaller) place(frame, 0, room);
        else if (frame.isIn) place(frame, (frame.x - (zoomed?.x ?? 0)) * scale, frame.width * scale);
      }
    }

    function zoom(frame) {
      if (!frame) return;
      const { panel } = frame;
      panel.zoomed = frame.parent && frame;
      draw(panel);
      reach(frame).focus();
    }

    function reset() {
      bar.input.value = '';
      search();
      for (const panel of panels) {
        panel.zoomed = undefined;
        draw(panel);
      }
    }

    function search() {
      const wanted = bar.input.value;
      const isWanted = wanted === '' ? () => false : matcher(wanted);
      svg.classList.toggle('searching', wanted !== '');
      for (const frame of frames.values()) {
        frame.isFound = isWanted(frame.name);
        frame.isCounted = frame.parent ? frame.parent.isCounted || frame.parent.isFound : false;
        frame.element.classList.toggle('found', frame.isFound);
      }
      const matched = panels[0].frames
        .filter(({ isFound, isCounted }) => isFound && !isCounted)
        .reduce((sum, frame) => sum + frame.width, 0);
      const percent = (100 * matched) / (drawnWidth - 2 * margin);
      bar.matched.textContent = wanted === '' ? '' : percent.toFixed(1) + ' % matched';
    }

    function tell(frame) {
      bar.name.textContent = frame ? frame.name : '';
      bar.about.textContent = frame ? frame.about : 'click or Enter: zoom · Escape: back · /: search';
    }

    /** Keys on a focused frame. */
    function move(event) {
      const frame = frameAt(event.target);
      if (!frame || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === 'Enter' || event.key === ' ') zoom(frame);
      else if (Object.hasOwn(neighbours, event.key)) {
        const next = neighbours[event.key](frame);
        if (next) reach(next).focus();
      } else return;
      event.preventDefault();
    }

    /** Keys anywhere, of a page where this flamegraph is pointed at or focused. */
    function command(event) {
      const isMeant = document.documentElement === svg || svg.contains(document.activeElement) || svg.matches(':hover');
      if (!isMeant) return;
      if (event.key === 'Escape') return reset();
      const isTyping = event.target.matches?.('input, textarea, select');
      const isFind = event.key === '/' || (event.key === 'f' && (event.ctrlKey || event.metaKey));
      if (!isFind || isTyping) return;
      event.preventDefault();
      bar.input.focus();
    }
  }

  /** Rows from the root up; a frame's caller is the one below its middle. */
  function panelOf(group) {
    const panel = { frames: [], zoomed: undefined };
    let below = [];
    for (const element of group.children) {
      const row = [...element.children].map((frame) => frameOf(frame, panel));
      let at = 0;
      row.forEach((frame, index) => {
        const middle = frame.x + frame.width / 2;
        while (at + 1 < below.length && below[at + 1].x <= middle) at += 1;
        frame.parent = below[at];
        frame.parent?.children.push(frame);
        Object.assign(frame, { row, index });
      });
      panel.frames.push(...row);
      below = row;
    }
    return panel;
  }

  function frameOf(element, panel) {
    const [title, box, label] = element.children;
    const [name, about] = title.textContent.split('\n');
    const [x, width] = ['x', 'width'].map((one) => Number(box.getAttribute(one)));
    return { element, panel, box, label, name, about, x, width, children: [], isIn: true };
  }

  const beside = (step) => ({ row, index }) => {
    let at = index + step;
    while (row[at] && !row[at].isIn) at += step;
    return row[at];
  };

  const neighbours = {
    ArrowUp: ({ children }) => children.reduce((best, one) => (best && best.width >= one.width ? best : one), undefined),
    ArrowDown: ({ parent }) => parent,
    ArrowLeft: beside(-1),
    ArrowRight: beside(1),
    Home: ({ panel }) => panel.frames[0],
  };

  /** The one frame of its panel that the Tab key comes to. */
  function reach({ element, panel }) {
    panel.reached?.removeAttribute('tabindex');
    panel.reached = element;
    element.setAttribute('tabindex', '0');
    element.setAttribute('role', 'button');
    return element;
  }

  function place(frame, x, width) {
    frame.box.setAttribute('x', x.toFixed(2));
    frame.box.setAttribute('width', width.toFixed(2));
    const said = fitted(frame.name, width);
    if (said === '' && !frame.label) return;
    frame.label ??= add(frame.element, svgSpace, 'text', { y: 12 });
    frame.label.setAttribute('x', (x + 3).toFixed(2));
    frame.label.textContent = said;
  }

  function fitted(name, width) {
    const most = Math.floor((width - 6) / characterWidth);
    if (most < 3) return '';
    return name.length <= most ? name : name.slice(0, most - 1) + '…';
  }

  function matcher(wanted) {
    try {
      const pattern = new RegExp(wanted, 'i');
      return (name) => pattern.test(name);
    } catch {
      return (name) => name.toLowerCase().includes(wanted.toLowerCase());
    }
  }

  /** Breaks lines and moves the parts below each other; returns where the last one ends. */
  function arranged(header, width) {
    let top = 0;
    for (const part of header.children) {
      part.setAttribute('transform', 'translate(0 ' + top + ')');
      const text = part.querySelector(':scope > text');
      top += text ? wrapped(text, width) : flowed(part.querySelector('.legend').children, width);
    }
    return top;
  }

  function wrapped(text, width) {
    const words = text.textContent.match(/\S+\s*/g) ?? [];
    const first = Number(text.getAttribute('y')), lineHeight = first + 2;
    const broken = [];
    text.textContent = '';
    for (const word of words) {
      const line = broken.at(-1);
      if (line) line.textContent += word;
      if (line && line.getComputedTextLength() <= width) continue;
      if (line) line.textContent = line.textContent.slice(0, -word.length);
      const y = first + broken.length * lineHeight;
      broken.push(add(text, svgSpace, 'tspan', { x: 0, y }));
      broken.at(-1).textContent = word;
    }
    return first + (broken.length - 1) * lineHeight + 6;
  }

  function flowed(items, width) {
    let x = 0, y = 0;
    for (const item of items) {
      const length = item.getBBox().width;
      if (x > 0 && x + length > width) [x, y] = [0, y + 18];
      item.setAttribute('transform', 'translate(' + x + ' ' + y + ')');
      x += length + 14;
    }
    return y + 22;
  }

  function barOf(svg) {
    const box = add(svg, svgSpace, 'foreignObject', { x: 0 });
    const html = (parent, name, attributes) => add(parent, 'http://www.w3.org/1999/xhtml', name, attributes);
    const bar = html(box, 'div', { class: 'bar' });
    const told = html(bar, 'div', { class: 'told' });
    const tools = html(bar, 'div', { class: 'tools' });
    const parts = {
      box,
      name: html(told, 'div', { class: 'name' }),
      about: html(told, 'div', { class: 'about' }),
      matched: html(tools, 'output', {}),
      input: html(tools, 'input', { type: 'search', placeholder: 'Search  /', 'aria-label': 'Search functions, by a regular expression', autocomplete: 'off', spellcheck: 'false' }),
      reset: html(tools, 'button', { type: 'button', title: 'Escape' }),
    };
    parts.reset.textContent = 'Reset';
    return parts;
  }

  function add(parent, space, name, attributes) {
    const element = document.createElementNS(space, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return parent.appendChild(element);
  }
})();
`.replaceAll(/^ +/gm, "");

// src/profile/flamegraph-style.ts
/**
* Classes by the names of modules. The kernel has the warm hue of classic flamegraphs, programs have one together, and
* a loadable module has its own by its name, or the next where another of the profile has it.
*/
function moduleLooks({ stacks }) {
	const frames = new Set(stacks.flatMap((stack) => stack.frames));
	const looks = /* @__PURE__ */ new Map();
	for (const frame of [...frames].toSorted(byModule)) {
		const name = moduleName(frame);
		if (name === void 0 || looks.has(name)) continue;
		looks.set(name, kindOf(frame) ?? freeHue(name, [...looks.values()]));
	}
	return looks;
}
const byModule = (a, b) => (a.module ?? "") < (b.module ?? "") ? -1 : 1;
function kindOf({ module = "" }) {
	if (/(^|\/)(\[?kernel\b|vmlinu[xz])[^/]*$/.test(module)) return "kernel";
	return module.includes("/") && !/\.ko\b[^/]*$/.test(module) ? "program" : void 0;
}
function freeHue(name, taken) {
	const first = hash(name) % hues.length;
	return hues.map((_, index) => `m${(first + index) % hues.length}`).find((hue) => !taken.includes(hue)) ?? `m${first}`;
}
/** A shade's class by a function's name. */
const nameLook = (name) => `s${hash(name) % shades}`;
/** FNV-1a of 32 bits. */
function hash(text) {
	let sum = 2166136261;
	for (let index = 0; index < text.length; index += 1) sum = Math.imul(sum ^ text.charCodeAt(index), 16777619);
	return sum >>> 0;
}
/** A colour's class by how much a share changed. */
function changeLook({ before, now }) {
	const points = 100 * (now - before);
	const step = changeSteps.filter((least) => Math.abs(points) >= least).length;
	if (step === 0) return "even";
	return points < 0 ? `less${step}` : `more${step}`;
}
/** Where the next stronger colour of a change begins, in percentage points. */
const changeSteps = [
	.1,
	.3,
	1,
	3,
	10
];
/** From green to violet; those that follow each other are far apart. */
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
/** A page brings it once for all. Colours are made of a lightness, a chroma and a hue of OKLCH. */
const flamegraphStyle = `
.ppsgate-flamegraph{
--paper:#fff;--ink:#1f2328;--faint:#59636e;--line:#8c959f;--found:#f39cec;
--light:.875;--lighter:-.028;--strong:.085;--stronger:.006;--hue:90;--step:0;
--sans:system-ui,'Segoe UI','Helvetica Neue',Arial,sans-serif;
--mono:ui-monospace,SFMono-Regular,'DejaVu Sans Mono',Menlo,Consolas,monospace;
&.difference{--light:.945;--lighter:-.055;--strong:.002;--stronger:.032}
@media (prefers-color-scheme:dark){
--paper:#0d1117;--ink:#f0f3f6;--faint:#9198a1;--line:#6e7681;--found:#8d2f88;
--light:.37;--lighter:.03;--strong:.07;
&.difference{--light:.29;--lighter:.045}}
color-scheme:light dark;display:block;max-width:100%;height:auto;background:var(--paper);font:11px var(--mono);
${classes}
.kernel{--hue:65}
.program{--hue:20}
[class^=more]{--hue:27}
[class^=less]{--hue:255}
text{fill:var(--ink);white-space:pre;pointer-events:none}
.title{font:600 16px var(--sans)}
.faint,.note{font:12px var(--sans);fill:var(--faint)}
g>rect{fill:oklch(calc(var(--light) + var(--step)*var(--lighter)) calc(var(--strong) + var(--step)*var(--stronger)) var(--hue))}
.flames rect{cursor:pointer;rx:1.5px}
.caller>rect{fill:none;stroke:var(--line);stroke-width:.6;pointer-events:all}
.gone>rect{stroke:var(--ink);stroke-width:.8;stroke-dasharray:3 2}
.below{opacity:.55}
.out{display:none}
&.searching .flames g>g:not(.found)>rect{opacity:.45}
.found>rect{fill:var(--found)}
.found>text{font-weight:700}
.flames g:hover>rect{stroke:var(--ink);stroke-width:1;stroke-dasharray:none}
&:focus,.flames g:focus{outline:none}
.flames g:focus-visible>rect{stroke:var(--ink);stroke-width:2.5;stroke-dasharray:none}
.bar{box-sizing:border-box;display:flex;flex-wrap:wrap-reverse;align-items:center;gap:4px 12px;height:100%;padding:2px 10px;background:var(--paper);color:var(--ink);font:12px/16px var(--sans)}
.told{flex:1 1 320px;min-width:0}
.told div{overflow:hidden;text-overflow:ellipsis;white-space:pre}
.told .name{font-family:var(--mono);font-weight:700}
.told .about,output{color:var(--faint)}
.tools{display:flex;align-items:center;gap:8px}
input,button{box-sizing:border-box;height:26px;margin:0;padding:0 8px;font:inherit;color:inherit;background:var(--paper);border:1px solid var(--line);border-radius:5px}
input{width:150px}
:is(input,button):focus-visible{outline:2px solid #0969da;outline-offset:1px}
output{white-space:nowrap}}
`;

// src/profile/flamegraph.ts
/**
* An SVG in the manner of Brendan Gregg's: callers below, siblings by name, a frame as wide as its share of all samples.
*
* Against a base, colours tell how the share of a path changed. Paths that only the base has stand in a lane of their
* own at the same scale: above their callers, which are as wide as they are now, there may be no room for them.
* Frames of both are the same where names and callers are, wherever the kernel and its modules lay.
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
		...standalone ? [`<title>${escaped(title)}</title>\n<style><![CDATA[${flamegraphStyle}]]></style>`] : [],
		`<g class="header" transform="translate(${margin} 0)">\n${header.markup}\n</g>`,
		`<g class="body" transform="translate(${margin} ${bodyTop})">\n${body.markup}\n</g>`,
		...standalone ? [`<script><![CDATA[${flamegraphScript}]]><\/script>`] : [],
		"</svg>\n"
	].join("\n");
}
const margin = 10;
const rowHeight = 17;
const frameHeight = 16;
/** Of a frame: what is narrower is not drawn. */
const leastPixels = .1;
/** Of a monospaced font of 11 pixels. */
const characterWidth = 6.63;
const longestLine = 1e3;
const longestName = 300;
/** One below the other. */
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
	const looks = moduleLooks(profile);
	const placed = layout({
		profile: stacks,
		base: []
	}, "profile", scaled(total, width));
	const drawn = flames(placed, {
		look: ({ name, module }) => `${looks.get(module ?? "") ?? "plain"} ${nameLook(name)}`,
		about: ({ samples }) => `${counted(samples.profile)}, ${percent(samples.profile / total)}`
	});
	return {
		legend: moduleLegend(profile, looks),
		parts: [drawn, ...hiddenNote(placed)]
	};
}
const scaled = (samples, width) => ({
	pixelsPerSample: width / samples,
	leastPixels
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
		look: (box) => changeLook(changeOf(box)),
		about: (box) => `${changeText(changeOf(box))}, ${counted(box.samples.profile)}`
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
/** Above the callers that the profile still has: these are empty boxes. */
function vanishedLane(placed, changeOf) {
	const root = placed.rows[0]?.[0];
	if (root === void 0) return [];
	const share = (box) => percent(changeOf(box).before);
	const isGone = ({ samples }) => samples.profile === 0;
	const drawn = flames(placed, {
		look: (box) => isGone(box) ? `${changeLook(changeOf(box))} gone` : "caller",
		about: (box) => isGone(box) ? changeText(changeOf(box)) : `calls what is gone, ${share(box)} of base`
	});
	const heading = `Only in base (dashed, to the same scale): ${share(root)}`;
	return [line("note", heading, 32), drawn];
}
function flames({ rows }, { look, about }) {
	let characters = 0;
	return {
		markup: `<g class="flames">\n${rows.map((row, depth) => {
			const frames = row.map((box) => {
				const name = box.name || "(no name)";
				const module = box.module === void 0 ? "" : `${escaped(shortened(box.module))} · `;
				const label = fitted(name, box.width);
				const text = label && `<text x="${round(box.x + 3)}" y="12">${escaped(label)}</text>`;
				const frame = `<g class="${look(box)}"><title>${escaped(shortened(name))}\n${module}${about(box)}</title><rect x="${round(box.x)}" width="${round(box.width)}" height="${frameHeight}"/>${text}</g>`;
				characters += frame.length;
				if (characters > mostCharacters) throw tooLarge;
				return frame;
			});
			return `<g transform="translate(0 ${(rows.length - 1 - depth) * rowHeight})">\n${frames.join("\n")}\n</g>`;
		}).join("\n")}\n</g>`,
		height: rows.length * rowHeight
	};
}
/** A frame has some 200, and one of a name that is made for that two thousand. */
const mostCharacters = 3e7;
const tooLarge = new ProfileError(`A flamegraph of more than ${mostCharacters} characters is not drawn; fold the profile, and draw a part of it.`);
const shortened = (text, mostCharacters = longestName) => text.length <= mostCharacters ? text : `${text.slice(0, mostCharacters - 1)}…`;
/** What of a name there is room for. */
function fitted(name, width) {
	const mostCharacters = Math.floor((width - 6) / characterWidth);
	return mostCharacters < 3 ? "" : shortened(name, mostCharacters);
}
const round = (pixels) => Math.round(pixels * 100) / 100;
const grouping = new Intl.NumberFormat("en-US");
function counted(samples) {
	if (samples === 1) return "1 sample";
	return `${samples < 1e3 ? samples : grouping.format(samples)} samples`;
}
const percent = (share) => `${(100 * share).toFixed(2)} %`;
function hiddenNote({ samples, hiddenSamples }) {
	if (hiddenSamples === 0) return [];
	const share = percent(hiddenSamples / samples);
	return [line("note", `Too narrow to be drawn: frames with ${share} of samples`, 24)];
}
function changeText({ before, now }) {
	const points = Math.abs(100 * (now - before)).toFixed(2);
	const sign = Number(points) === 0 ? "±" : now < before ? "−" : "+";
	const [from, to] = [before > 0 ? percent(before) : "not in base", now > 0 ? percent(now) : "gone"];
	return `${from} → ${to} (${sign}${points} points)`;
}
function changeLegend() {
	const steps = changeSteps.map((least, index) => ({
		least,
		step: index + 1
	}));
	const swatches = [
		...steps.toReversed().map(({ least, step }) => ({
			look: `less${step}`,
			text: `−${least}`
		})),
		{
			look: "even",
			text: "0"
		},
		...steps.map(({ least, step }) => ({
			look: `more${step}`,
			text: `+${least}`
		}))
	];
	const width = 33;
	const drawn = swatches.map(({ look, text }, index) => {
		const x = index * width;
		return `<g class="${look}"><rect x="${x}" width="${width}" height="14"/><text x="${x + width / 2}" y="11" text-anchor="middle">${text}</text></g>`;
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
const legendText = (said, x) => ({
	markup: `<text x="${x}" y="11">${escaped(said)}</text>`,
	width: x + said.length * characterWidth
});
/** Side by side; the script breaks the line where there is less room. */
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
const mostInLegend = 8;
const leastInLegend = .001;
/** Modules by the samples that ended in them; nothing where the profile does not tell any. */
function moduleLegend({ stacks }, looks) {
	if (looks.size === 0) return [];
	const samplesIn = /* @__PURE__ */ new Map();
	for (const { frames, samples } of stacks) {
		const name = moduleName(frames.at(-1)) ?? "of no module";
		samplesIn.set(name, (samplesIn.get(name) ?? 0) + samples);
	}
	const total = samplesOf(stacks);
	return [legend([...samplesIn].filter(([, samples]) => samples / total >= leastInLegend).toSorted(([, a], [, b]) => b - a).slice(0, mostInLegend).map(([name, samples]) => {
		const share = percent(samples / total);
		const { markup, width } = legendText(`${shortened(name, 40)} ${share}`, 15);
		return {
			markup: `<g class="${looks.get(name) ?? "plain"} s1"><rect y="2" width="10" height="10"/></g>${markup}`,
			width
		};
	}))];
}

export { layout as i, flamegraphStyle as n, flamegraphScript as r, flamegraph as t };