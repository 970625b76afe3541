// Styles the page in light and dark, for phone, desk and paper.
import { embedded } from '../system/embedded-assets.ts';
import { colors } from './svg.ts';

const light = {
  ...colors,
  // Flamegraphs have their own paper colour.
  page: colors.paper,
  desk: '#f5f7f9',
  blue: '#0b62b8',
  shade: '#eef1f4',
  kernel: '#f0b46c',
  module: '#7fc4b4',
};

const dark: Record<keyof typeof light, string> = {
  desk: '#0f1419',
  paper: '#171d24',
  page: '#171d24',
  ink: '#e3e8ee',
  faint: '#98a3af',
  pale: '#2c343d',
  red: '#ff8078',
  green: '#5bc98a',
  amber: '#e0a94a',
  grey: '#98a3af',
  blue: '#79b8ff',
  shade: '#1f262e',
  kernel: '#a8692a',
  module: '#3a8071',
};

const properties = (scheme: Record<string, string>): string =>
  Object.entries(scheme)
    .map(([name, color]) => `--${name}:${color};`)
    .join('');

const plotColors = Object.entries(colors)
  .flatMap(([name, color]) =>
    ['fill', 'stroke'].map((which) => `.intervals [${which}="${color}"]{${which}:var(--${name})}\n`),
  )
  .join('');

/** Print is always light. */
export const pageStyle = (): string => `
:root{color-scheme:light dark;${properties(light)}}
@media screen and (prefers-color-scheme:dark){:root{${properties(dark)}}}
${plotColors}${embedded(new URL('./html-style.css', import.meta.url))}`;
