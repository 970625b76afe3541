// Makes flamegraphs interactive, in their own file or on a page with several. All content comes from the drawing; a
// profile's text only reaches `textContent`.

/**
 * The flames, or the lane below.
 * @typedef {{ frames: Frame[], zoomed: Frame | undefined, reached: Frame | undefined }} Panel
 */

/**
 * `x` and `width` are as drawn at rest. `row` has its neighbours, and itself at `index`; `parent` is its caller.
 * @typedef {{
 *   element: SVGGElement, box: Element, label: Element | undefined, name: string, about: string, x: number, width: number,
 *   panel: Panel, row: Frame[], index: number, parent: Frame | undefined, children: Frame[],
 *   isIn: boolean, isFound: boolean, isCounted: boolean,
 * }} Frame
 */

const margin = 10;
const characterWidth = 6.63;
const svgSpace = 'http://www.w3.org/2000/svg';
const htmlSpace = 'http://www.w3.org/1999/xhtml';

function start() {
  for (const svg of document.querySelectorAll('svg.ppsgate-flamegraph')) {
    if (!(svg instanceof SVGSVGElement)) continue;
    const panels = [...svg.querySelectorAll('.flames')].map(panelOf);
    if (panels.length > 0) new FlamegraphView(svg, panels).open();
  }
}

/** Zooms, searches and explains one flamegraph by pointer and keyboard. */
class FlamegraphView {
  width = 0;
  barTop = 0;
  /** @type {Frame | undefined} */
  focused;

  /**
   * @param {SVGSVGElement} svg
   * @param {Panel[]} panels
   */
  constructor(svg, panels) {
    const { width, height } = svg.viewBox.baseVal;
    this.svg = svg;
    this.panels = panels;
    this.header = /** @type {SVGGElement} */ (svg.querySelector('.header'));
    this.body = /** @type {SVGGElement} */ (svg.querySelector('.body'));
    this.drawnWidth = width - 2 * margin;
    this.bodyHeight = height - this.body.transform.baseVal.getItem(0).matrix.f;
    this.all = panels.flatMap(({ frames }) => frames);
    /** @type {Map<Element | null, Frame>} */
    this.frames = new Map(this.all.map((frame) => [frame.element, frame]));
    this.bar = barOf(svg);
  }

  open() {
    const { svg } = this;
    svg.removeAttribute('viewBox');
    svg.style.width = '100%';
    // Keeps the root of a file out of the Tab order.
    svg.setAttribute('tabindex', '-1');
    for (const frame of this.all) if (!frame.parent) reach(frame);
    new ResizeObserver(() => this.fit()).observe(svg);
    this.fit();
    this.describe(undefined);
    this.listen();
  }

  listen() {
    const { svg, bar } = this;
    svg.addEventListener('click', ({ target }) => this.zoom(this.frameAt(target)));
    svg.addEventListener('pointerover', ({ target }) => this.describe(this.frameAt(target) ?? this.focused));
    svg.addEventListener('pointerleave', () => this.describe(this.focused));
    svg.addEventListener('focusin', ({ target }) => this.focus(this.frameAt(target)));
    svg.addEventListener('focusout', () => this.focus(undefined));
    svg.addEventListener('keydown', (event) => this.onFrameKey(event));
    bar.input.addEventListener('input', () => this.search());
    bar.reset.addEventListener('click', () => this.reset());
    document.addEventListener('keydown', (event) => this.onKey(event));
    const options = { capture: true, passive: true };
    document.addEventListener('scroll', () => this.follow(), options);
  }

  /** @type {(target: EventTarget | null) => Frame | undefined} */
  frameAt(target) {
    return target instanceof Element ? this.frames.get(target.closest('g')) : undefined;
  }

  /** Draws as wide as the page allows; a folded flamegraph has no width. */
  fit() {
    const { svg, header, body, bar } = this;
    const { width } = svg.getBoundingClientRect();
    if (width === 0 || width === this.width) return;
    this.width = width;
    this.barTop = arranged(header, width - 2 * margin) + 4;
    const barHeight = width < 640 ? 72 : 40;
    const bodyTop = this.barTop + barHeight + 6;
    bar.box.setAttribute('width', `${width}`);
    bar.box.setAttribute('height', `${barHeight}`);
    body.setAttribute('transform', `translate(${margin} ${bodyTop})`);
    svg.style.height = `${bodyTop + this.bodyHeight}px`;
    for (const panel of this.panels) this.draw(panel);
    this.follow();
  }

  /** Keeps the bar visible while the flames are. */
  follow() {
    const { top, height } = this.svg.getBoundingClientRect();
    const { box } = this.bar;
    const most = height - box.height.baseVal.value;
    box.setAttribute('y', `${Math.max(this.barTop, Math.min(-top, most))}`);
  }

  /** @type {(panel: Panel) => void} */
  draw({ frames, zoomed }) {
    const width = this.width - 2 * margin;
    const scale = width / (zoomed ? zoomed.width : this.drawnWidth);
    const callers = new Set();
    for (let frame = zoomed?.parent; frame; frame = frame.parent) callers.add(frame);
    for (const frame of frames) {
      const isCaller = callers.has(frame);
      frame.isIn = frame === zoomed || (frame.parent ? frame.parent.isIn : !zoomed);
      frame.element.classList.toggle('below', isCaller);
      frame.element.classList.toggle('out', !isCaller && !frame.isIn);
      if (isCaller) place(frame, 0, width);
      else if (frame.isIn) place(frame, (frame.x - (zoomed?.x ?? 0)) * scale, frame.width * scale);
    }
  }

  /** @type {(frame: Frame | undefined) => void} */
  zoom(frame) {
    if (!frame) return;
    const { panel } = frame;
    panel.zoomed = frame.parent && frame;
    this.draw(panel);
    reach(frame).focus();
  }

  reset() {
    this.bar.input.value = '';
    this.search();
    for (const panel of this.panels) {
      panel.zoomed = undefined;
      this.draw(panel);
    }
  }

  search() {
    const { all, panels, bar } = this;
    const pattern = bar.input.value;
    const isMatch = pattern === '' ? () => false : matcher(pattern);
    this.svg.classList.toggle('searching', pattern !== '');
    for (const frame of all) {
      frame.isFound = isMatch(frame.name);
      frame.isCounted = frame.parent ? frame.parent.isCounted || frame.parent.isFound : false;
      frame.element.classList.toggle('found', frame.isFound);
    }
    const matched = all
      .filter(({ panel, isFound, isCounted }) => panel === panels[0] && isFound && !isCounted)
      .reduce((sum, frame) => sum + frame.width, 0);
    const percent = (100 * matched) / this.drawnWidth;
    bar.matched.textContent = pattern === '' ? '' : `${percent.toFixed(1)} % matched`;
  }

  /** @type {(frame: Frame | undefined) => void} */
  focus(frame) {
    this.focused = frame;
    this.describe(frame);
  }

  /** @type {(frame: Frame | undefined) => void} */
  describe(frame) {
    const { name, about } = this.bar;
    name.textContent = frame ? frame.name : '';
    about.textContent = frame ? frame.about : 'click or Enter: zoom · Escape: back · /: search';
  }

  /** @type {(event: KeyboardEvent) => void} */
  onFrameKey(event) {
    const frame = this.frameAt(event.target);
    if (!frame || event.ctrlKey || event.metaKey || event.altKey) return;
    const neighbour = neighbours.get(event.key);
    if (event.key === 'Enter' || event.key === ' ') this.zoom(frame);
    else if (neighbour) {
      const next = neighbour(frame);
      if (next) reach(next).focus();
    } else return;
    event.preventDefault();
  }

  /**
   * Handles keys anywhere; on a page while this flamegraph is pointed at or focused.
   * @type {(event: KeyboardEvent) => void}
   */
  onKey(event) {
    const { target, key } = event;
    const { svg } = this;
    if (!svg.matches(':root, :hover') && !svg.contains(document.activeElement)) return;
    if (key === 'Escape') return this.reset();
    const isTyping = target instanceof Element && target.matches('input, textarea, select');
    const isFind = key === '/' || (key === 'f' && (event.ctrlKey || event.metaKey));
    if (!isFind || isTyping) return;
    event.preventDefault();
    this.bar.input.focus();
  }
}

/**
 * Reads rows from the root up; a frame's caller is the one below its middle.
 * @type {(group: Element) => Panel}
 */
function panelOf(group) {
  /** @type {Panel} */
  const panel = { frames: [], zoomed: undefined, reached: undefined };
  /** @type {Frame[]} */
  let below = [];
  for (const drawn of group.children) {
    /** @type {Frame[]} */
    const row = [];
    let at = 0;
    for (const element of elementsOf(drawn)) {
      const frame = frameOf(element, panel, row);
      const middle = frame.x + frame.width / 2;
      while ((below[at + 1]?.x ?? Number.POSITIVE_INFINITY) <= middle) at += 1;
      frame.parent = below[at];
      frame.parent?.children.push(frame);
      row.push(frame);
    }
    panel.frames.push(...row);
    below = row;
  }
  return panel;
}

/**
 * Adds the narrow frames of a row from its text; returns all from left to right.
 * @type {(row: Element) => SVGGElement[]}
 */
function elementsOf(row) {
  const [narrow] = row.getElementsByTagName('metadata');
  if (narrow) {
    const added = narrow.textContent.split('\n').map(narrowFrame);
    row.replaceChildren(...[...row.querySelectorAll('g'), ...added].sort((a, b) => left(a) - left(b)));
  }
  return /** @type {SVGGElement[]} */ ([...row.children]);
}

/** @type {(frame: Element) => number} */
const left = (frame) => Number(frame.children[1]?.getAttribute('x'));

/** @type {(line: string) => SVGGElement} */
function narrowFrame(line) {
  const [look = '', x = '', width = '', name = '', about = ''] = line.split('\t');
  const frame = document.createElementNS(svgSpace, 'g');
  frame.setAttribute('class', look);
  add(frame, document.createElementNS(svgSpace, 'title'), {}).textContent = `${name}\n${about}`;
  add(frame, document.createElementNS(svgSpace, 'rect'), { x, width, height: '16' });
  return frame;
}

/** @type {(element: SVGGElement, panel: Panel, row: Frame[]) => Frame} */
function frameOf(element, panel, row) {
  const [title, box, label] = /** @type {[Element, Element, Element?]} */ ([...element.children]);
  const [name = '', about = ''] = title.textContent.split('\n');
  const [x, width] = [Number(box.getAttribute('x')), Number(box.getAttribute('width'))];
  return {
    element,
    box,
    label,
    name,
    about,
    x,
    width,
    panel,
    row,
    index: row.length,
    parent: undefined,
    children: [],
    isIn: true,
    isFound: false,
    isCounted: false,
  };
}

/** @type {(step: 1 | -1) => (frame: Frame) => Frame | undefined} */
const beside = (step) => (frame) => {
  let at = frame.index + step;
  while (frame.row[at]?.isIn === false) at += step;
  return frame.row[at];
};

/** @type {Map<string, (frame: Frame) => Frame | undefined>} */
const neighbours = new Map([
  ['ArrowUp', ({ children }) => [...children].sort((a, b) => b.width - a.width)[0]],
  ['ArrowDown', ({ parent }) => parent],
  ['ArrowLeft', beside(-1)],
  ['ArrowRight', beside(1)],
  ['Home', ({ panel }) => panel.frames[0]],
]);

/**
 * Makes this the one frame of its panel at which the Tab key stops.
 * @type {(frame: Frame) => SVGGElement}
 */
function reach(frame) {
  const { element, panel } = frame;
  panel.reached?.element.removeAttribute('tabindex');
  panel.reached = frame;
  element.setAttribute('tabindex', '0');
  element.setAttribute('role', 'button');
  return element;
}

/** @type {(frame: Frame, x: number, width: number) => void} */
function place(frame, x, width) {
  frame.box.setAttribute('x', x.toFixed(2));
  frame.box.setAttribute('width', width.toFixed(2));
  const label = fitted(frame.name, width);
  if (label === '' && !frame.label) return;
  frame.label ??= add(frame.element, document.createElementNS(svgSpace, 'text'), { y: '12' });
  frame.label.setAttribute('x', (x + 3).toFixed(2));
  frame.label.textContent = label;
}

/** @type {(name: string, width: number) => string} */
function fitted(name, width) {
  const most = Math.floor((width - 6) / characterWidth);
  if (most < 3) return '';
  return name.length <= most ? name : `${name.slice(0, most - 1)}…`;
}

/** @type {(search: string) => (name: string) => boolean} */
function matcher(search) {
  try {
    const pattern = new RegExp(search, 'i');
    return (name) => pattern.test(name);
  } catch {
    return (name) => name.toLowerCase().includes(search.toLowerCase());
  }
}

/**
 * Breaks lines and moves the parts below each other; returns where the last one ends.
 * @type {(header: SVGGElement, width: number) => number}
 */
function arranged(header, width) {
  let top = 0;
  for (const part of header.children) {
    part.setAttribute('transform', `translate(0 ${top})`);
    const [inside] = part.children;
    if (inside instanceof SVGTextElement) top += wrapped(inside, width);
    else if (inside instanceof SVGGElement) top += flowed(inside, width);
  }
  return top;
}

/** @type {(text: SVGTextElement, width: number) => number} */
function wrapped(text, width) {
  const words = text.textContent.match(/\S+\s*/g) ?? [];
  const first = Number(text.getAttribute('y'));
  const lineHeight = first + 2;
  let y = first - lineHeight;
  /** @type {SVGTSpanElement | undefined} */
  let line;
  text.textContent = '';
  for (const word of words) {
    if (line) {
      const before = line.textContent;
      line.textContent += word;
      if (line.getComputedTextLength() <= width) continue;
      line.textContent = before;
    }
    y += lineHeight;
    line = add(text, document.createElementNS(svgSpace, 'tspan'), { x: '0', y: `${y}` });
    line.textContent = word;
  }
  return y + 6;
}

/** @type {(legend: SVGGElement, width: number) => number} */
function flowed(legend, width) {
  let x = 0;
  let y = 0;
  for (const item of legend.children) {
    const length = /** @type {SVGGElement} */ (item).getBBox().width;
    if (x > 0 && x + length > width) [x, y] = [0, y + 18];
    item.setAttribute('transform', `translate(${x} ${y})`);
    x += length + 14;
  }
  return y + 22;
}

/** @param {SVGSVGElement} svg */
function barOf(svg) {
  const box = add(svg, document.createElementNS(svgSpace, 'foreignObject'), { x: '0' });
  const bar = html(box, 'div', { class: 'bar' });
  const told = html(bar, 'div', { class: 'told' });
  const tools = html(bar, 'div', { class: 'tools' });
  const name = html(told, 'div', { class: 'name' });
  const about = html(told, 'div', { class: 'about' });
  const matched = html(tools, 'output', {});
  const input = html(tools, 'input', {
    type: 'search',
    placeholder: 'Search  /',
    'aria-label': 'Search functions, by a regular expression',
    autocomplete: 'off',
    spellcheck: 'false',
  });
  const reset = html(tools, 'button', { type: 'button', title: 'Escape' });
  reset.textContent = 'Reset';
  return { box, name, about, matched, input: /** @type {HTMLInputElement} */ (input), reset };
}

/** @type {(parent: Element, name: string, attributes: Record<string, string>) => HTMLElement} */
const html = (parent, name, attributes) => add(parent, document.createElementNS(htmlSpace, name), attributes);

/** @type {<Added extends Element>(parent: Element, element: Added, attributes: Record<string, string>) => Added} */
function add(parent, element, attributes) {
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return parent.appendChild(element);
}

if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', start);
else start();
