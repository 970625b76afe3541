// Reads scripts and styles of src/ for embedding into pages and pictures.
import { readFileSync } from 'node:fs';

/** Drops indentation, and comments on their own lines. */
export const embedded = (file: URL): string =>
  readFileSync(file, 'utf8').replaceAll(/^\s*(?:\/\/.*|\/\*(?:[^*]|\*(?!\/))*\*\/)\n|^\s+/gm, '');

/** Wraps a file in a strict function, so that its names stay out of the page as those of a module do. */
export const embeddedScript = (file: URL): string => `\n(() => {\n'use strict';\n${embedded(file)}})();\n`;
