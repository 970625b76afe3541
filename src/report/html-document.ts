// Completes a page with its style, scripts and Content-Security-Policy.

import { createHash } from 'node:crypto';
import { flamegraphScript, flamegraphStyle } from '../analysis/profile/flamegraph.ts';
import { embeddedScript } from '../system/embedded-assets.ts';
import { pageStyle } from './html-style.ts';
import { Html, html } from './markup.ts';

type Document = { title: string; body: Html; hasGraphs: boolean };

/** Loads nothing; the Content-Security-Policy (W3C, level 3) permits only its own style and scripts, by hash. */
export function htmlDocument({ title, body, hasGraphs }: Document): string {
  const style = hasGraphs ? `${pageStyle()}${flamegraphStyle()}` : pageStyle();
  const scripts = hasGraphs ? [flamegraphScript(), openTarget()] : [];
  const policy = [
    "default-src 'none'",
    // Permits the inline icon, without which browsers request one.
    'img-src data:',
    `style-src ${hashOf(style)}`,
    ...(scripts.length > 0 ? [`script-src ${scripts.map(hashOf).join(' ')}`] : []),
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${new Html(style)}</style>
</head>
<body>
${body}${scripts.map((script) => html`<script>${new Html(script)}</script>\n`)}</body>
</html>
`.markup;
}

const openTarget = (): string => embeddedScript(new URL('./open-target.js', import.meta.url));

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
