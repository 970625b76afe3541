// What makes flamegraphs viewers in a browser: JavaScript for a file of one, or for a page with any number of them.

/** Takes all it tells from the drawing; text of a profile only ever goes through `textContent`. */
export const flamegraphScript = String.raw`
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
`.replaceAll(/^ +/gm, '');
