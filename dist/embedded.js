import { readFileSync } from "node:fs";

// src/embedded.ts
/** Without what only a reader of the file needs: indentation, and comments on lines of their own. */
const embedded = (file) => readFileSync(file, "utf8").replaceAll(/^\s*(?:\/\/.*|\/\*(?:[^*]|\*(?!\/))*\*\/)\n|^\s+/gm, "");
/** For any `<script>`: strict and with names of its own, as the file is for who checks it as a module. */
const embeddedScript = (file) => `\n(() => {\n'use strict';\n${embedded(file)}})();\n`;

export { embedded, embeddedScript };