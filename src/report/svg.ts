// Draws self-contained SVG pictures, for files, pages and conversion to pixels.

import { escaped } from '../model/xml.ts';
import type { Block } from './document.ts';
import { Html, html } from './markup.ts';

/** `narrow` is for a phone. */
export type PlotForm = 'wide' | 'narrow';

/** Draws both forms; a page shows the one that fits its width, in its own colours. */
export function bothForms(draw: (form: PlotForm) => string | undefined): Block[] {
  const drawn = (['wide', 'narrow'] as const).flatMap((form) => {
    const plot = draw(form);
    return plot === undefined ? [] : html`<div class="${form}">${new Html(plot)}</div>\n`;
  });
  if (drawn.length === 0) return [];
  return [{ kind: 'drawing', drawing: html`<div class="intervals">${drawn}</div>\n` }];
}

/** All distinct, so that a page can replace each. */
export const colors = {
  paper: '#ffffff',
  ink: '#1f2328',
  faint: '#59636e',
  pale: '#e3e7eb',
  red: '#c62f2f',
  green: '#1a7f4b',
  amber: '#a86200',
  grey: '#6e7781',
} as const;

/** Draws its own background; the first piece is its title. */
/** Beyond this, browsers and mail readers give up. Throws a RangeError for a larger plot. */
const maxCharacters = 2_000_000;

export function svgDocument(width: number, height: number, pieces: readonly string[]): string {
  const attributes = {
    xmlns: 'http://www.w3.org/2000/svg',
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: 'img',
    'font-family': "'Open Sans', 'Segoe UI', 'Helvetica Neue', Arial, sans-serif",
    'font-size': 13,
    fill: colors.ink,
  };
  const [title, ...rest] = pieces;
  const sheet = element('rect', { width, height, rx: 6, fill: colors.paper });
  const lines = ['', title, sheet, ...rest, ''].join('\n');
  const svg = `${element('svg', attributes, lines)}\n`;
  if (svg.length <= maxCharacters) return svg;
  throw new RangeError(`a plot of ${svg.length} characters is not drawn, the limit is ${maxCharacters}`);
}

export type Attributes = Record<string, string | number>;

export function element(name: string, attributes: Attributes, inside?: string): string {
  const written = Object.entries(attributes).map(
    ([key, value]) => ` ${key}="${typeof value === 'number' ? round(value) : escaped(value)}"`,
  );
  const start = `<${name}${written.join('')}`;
  return inside === undefined ? `${start}/>` : `${start}>${inside}</${name}>`;
}

export const path = (d: string, attributes: Attributes): string => element('path', { d, ...attributes });

export const text = (content: string, attributes: Attributes): string => element('text', attributes, escaped(content));

export const round = (pixels: number): number => Math.round(pixels * 100) / 100;
