// Reads scripts and styles of src/ for embedding into pages and pictures.
import { readFileSync } from 'node:fs';

/** Drops indentation, and comments on lines of their own. */
export const embedded = (file: URL): string =>
  readFileSync(file, 'utf8').replaceAll(/^\s*(?:\/\/.*|\/\*(?:[^*]|\*(?!\/))*\*\/)\n|^\s+/gm, '');

/** Wraps a file in a strict function, which keeps its names from the page, as the type checker assumes of a module. */
export const embeddedScript = (file: URL): string =>
  `\n(() => {\n'use strict';\n${embedded(file)}})();\n`;
