// Wraps a page in the site's document: assets, menu and security policy.
import { type Html, html, type Piece } from '../../report/markup.ts';
import { linkFrom } from './page-paths.ts';

export type MenuEntry = { path: string; name: string };

export type Page = {
  path: string;
  title: string;
  body: Html;
  scripts?: readonly string[];
};

export const folderOf = (path: string): string => path.split('/').slice(0, -1).join('/');

/** Loads nothing from other sites, and allows no inline style or script. A `file:` page accepts files as its own. */
export function documentOf({ path, title, body, scripts = [] }: Page, menu: readonly MenuEntry[]): string {
  const at = (target: string) => linkFrom(folderOf(path), target);
  const charts: Piece = scripts.length > 0 && [
    html`<link rel="stylesheet" href="${at('uplot.css')}">\n`,
    [...scripts, 'uplot.js'].map((one) => html`<script defer src="${at(one)}"></script>\n`),
  ];
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · ppsgate</title>
<link rel="icon" href="${at('icon.svg')}">
<link rel="stylesheet" href="${at('site.css')}">
${charts}<script defer src="${at('site.js')}"></script>
</head>
<body>
<nav class="menu" aria-label="Pages"><a class="brand" href="${at('index.html')}">ppsgate</a><ul>
${menu.map((one) => menuEntry(one, path, at))}</ul></nav>
${body}<footer>Made by <code>ppsgate site</code> of the nightly runs that are kept.</footer>
</body>
</html>
`.markup;
}

const menuEntry = (place: MenuEntry, path: string, at: (target: string) => string): Html =>
  html`<li><a href="${at(place.path)}"${place.path === path && html` aria-current="page"`}>${place.name}</a></li>\n`;

/** A date; the script adds its age. */
export const moment = (at: string | number): Html => {
  const iso = new Date(at).toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 'YYYY-MM-DD'.length)}</time>`;
};

/** A date with hours; the script adds its age. */
export const hourOf = (at: string | number): Html => {
  const iso = new Date(at).toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 'YYYY-MM-DDTHH:MM'.length).replace('T', ' ')} UTC</time>`;
};
