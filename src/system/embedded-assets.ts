// Files of src/ that what we draw has in itself.
import { readFileSync } from 'node:fs';

/** Without what only a reader of the file needs: indentation, and comments on lines of their own. */
export const embedded = (file: URL): string =>
  readFileSync(file, 'utf8').replaceAll(/^\s*(?:\/\/.*|\/\*(?:[^*]|\*(?!\/))*\*\/)\n|^\s+/gm, '');

/** For any `<script>`: strict and with names of its own, as the file is for who checks it as a module. */
export const embeddedScript = (file: URL): string =>
  `\n(() => {\n'use strict';\n${embedded(file)}})();\n`;
