// What makes flamegraphs viewers in a browser, of a file of one or of a page with any number of them. Takes all it tells
// from the drawing; text of a profile only ever goes through `textContent`.

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
    if (svg instanceof SVGSVGElement) view(svg);
  }
}

/** @type {(svg: SVGSVGElement) => void} */
function view(svg) {
  const header = /** @type {SVGGElement} */ (svg.querySelector('.header'));
  const body = /** @type {SVGGElement} */ (svg.querySelector('.body'));
  const { width: drawnWidth, height: drawnHeight } = svg.viewBox.baseVal;
  const bodyHeight = drawnHeight - body.transform.baseVal.getItem(0).matrix.f;
  const panels = [...svg.querySelectorAll('.flames')].map(panelOf);
  if (panels.length === 0) return;
  const all = panels.flatMap(({ frames }) => frames);
  /** @type {Map<Element | null, Frame>} */
  const frames = new Map(all.map((frame) => [frame.element, frame]));
  const bar = barOf(svg);
  let width = 0;
  let barTop = 0;
  /** @type {Frame | undefined} */
  let focused;

  svg.removeAttribute('viewBox');
  svg.style.width = '100%';
  // Of its own file it would be a stop of the Tab key.
  svg.setAttribute('tabindex', '-1');
  for (const frame of all) if (!frame.parent) reach(frame);
  new ResizeObserver(fit).observe(svg);
  fit();
  notify(undefined);

  svg.addEventListener('click', ({ target }) => zoom(frameAt(target)));
  svg.addEventListener('pointerover', ({ target }) => notify(frameAt(target) ?? focused));
  svg.addEventListener('pointerleave', () => notify(focused));
  svg.addEventListener('focusin', ({ target }) => focus(frameAt(target)));
  svg.addEventListener('focusout', () => focus(undefined));
  svg.addEventListener('keydown', move);
  bar.input.addEventListener('input', search);
  bar.reset.addEventListener('click', reset);
  document.addEventListener('keydown', command);
  document.addEventListener('scroll', follow, { capture: true, passive: true });

  /** @type {(target: EventTarget | null) => Frame | undefined} */
  function frameAt(target) {
    return target instanceof Element ? frames.get(target.closest('g')) : undefined;
  }

  /** To the width that there is; none while it is folded away. */
  function fit() {
    const room = svg.getBoundingClientRect().width;
    if (room === 0 || room === width) return;
    width = room;
    barTop = arranged(header, width - 2 * margin) + 4;
    const barHeight = width < 640 ? 72 : 40;
    const bodyTop = barTop + barHeight + 6;
    bar.box.setAttribute('width', `${width}`);
    bar.box.setAttribute('height', `${barHeight}`);
    body.setAttribute('transform', `translate(${margin} ${bodyTop})`);
    svg.style.height = `${bodyTop + bodyHeight}px`;
    panels.forEach(draw);
    follow();
  }

  /** The bar stays in sight while the flames are. */
  function follow() {
    const { top, height } = svg.getBoundingClientRect();
    const most = height - bar.box.height.baseVal.value;
    bar.box.setAttribute('y', `${Math.max(barTop, Math.min(-top, most))}`);
  }

  /** @type {(panel: Panel) => void} */
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

  /** @type {(frame: Frame | undefined) => void} */
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
    for (const frame of all) {
      frame.isFound = isWanted(frame.name);
      frame.isCounted = frame.parent ? frame.parent.isCounted || frame.parent.isFound : false;
      frame.element.classList.toggle('found', frame.isFound);
    }
    const matched = all
      .filter(({ panel, isFound, isCounted }) => panel === panels[0] && isFound && !isCounted)
      .reduce((sum, frame) => sum + frame.width, 0);
    const percent = (100 * matched) / (drawnWidth - 2 * margin);
    bar.matched.textContent = wanted === '' ? '' : `${percent.toFixed(1)} % matched`;
  }

  /** @type {(frame: Frame | undefined) => void} */
  function focus(frame) {
    focused = frame;
    notify(frame);
  }

  /** @type {(frame: Frame | undefined) => void} */
  function notify(frame) {
    bar.name.textContent = frame ? frame.name : '';
    bar.about.textContent = frame ? frame.about : 'click or Enter: zoom · Escape: back · /: search';
  }

  /**
   * Keys on a focused frame.
   * @type {(event: KeyboardEvent) => void}
   */
  function move(event) {
    const frame = frameAt(event.target);
    if (!frame || event.ctrlKey || event.metaKey || event.altKey) return;
    const neighbour = neighbours.get(event.key);
    if (event.key === 'Enter' || event.key === ' ') zoom(frame);
    else if (neighbour) {
      const next = neighbour(frame);
      if (next) reach(next).focus();
    } else return;
    event.preventDefault();
  }

  /**
   * Keys anywhere, of a page where this flamegraph is pointed at or focused.
   * @type {(event: KeyboardEvent) => void}
   */
  function command(event) {
    const { target, key } = event;
    if (!svg.matches(':root, :hover') && !svg.contains(document.activeElement)) return;
    if (key === 'Escape') return reset();
    const isTyping = target instanceof Element && target.matches('input, textarea, select');
    const isFind = key === '/' || (key === 'f' && (event.ctrlKey || event.metaKey));
    if (!isFind || isTyping) return;
    event.preventDefault();
    bar.input.focus();
  }
}

/**
 * Rows from the root up; a frame's caller is the one below its middle.
 * @type {(group: Element) => Panel}
 */
function panelOf(group) {
  /** @type {Panel} */
  const panel = { frames: [], zoomed: undefined, reached: undefined };
  /** @type {Frame[]} */
  let below = [];
  for (const { children } of group.children) {
    /** @type {Frame[]} */
    const row = [];
    let at = 0;
    for (const element of children) {
      const frame = frameOf(/** @type {SVGGElement} */ (element), panel, row);
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

/** @type {(element: SVGGElement, panel: Panel, row: Frame[]) => Frame} */
function frameOf(element, panel, row) {
  const [title, box, label] = /** @type {[Element, Element, Element?]} */ ([...element.children]);
  const [name = '', about = ''] = title.textContent.split('\n');
  const [x, width] = [Number(box.getAttribute('x')), Number(box.getAttribute('width'))];
  return {
    ...{ element, box, label, name, about, x, width, panel, row, index: row.length },
    ...{ parent: undefined, children: [], isIn: true, isFound: false, isCounted: false },
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
 * The one frame of its panel that the Tab key comes to.
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
  const said = fitted(frame.name, width);
  if (said === '' && !frame.label) return;
  frame.label ??= add(frame.element, document.createElementNS(svgSpace, 'text'), { y: '12' });
  frame.label.setAttribute('x', (x + 3).toFixed(2));
  frame.label.textContent = said;
}

/** @type {(name: string, width: number) => string} */
function fitted(name, width) {
  const most = Math.floor((width - 6) / characterWidth);
  if (most < 3) return '';
  return name.length <= most ? name : `${name.slice(0, most - 1)}…`;
}

/** @type {(wanted: string) => (name: string) => boolean} */
function matcher(wanted) {
  try {
    const pattern = new RegExp(wanted, 'i');
    return (name) => pattern.test(name);
  } catch {
    return (name) => name.toLowerCase().includes(wanted.toLowerCase());
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
const html = (parent, name, attributes) =>
  add(parent, document.createElementNS(htmlSpace, name), attributes);

/** @type {<Added extends Element>(parent: Element, element: Added, attributes: Record<string, string>) => Added} */
function add(parent, element, attributes) {
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return parent.appendChild(element);
}

if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', start);
else start();
