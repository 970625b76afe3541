const { readFileSync } = globalThis.process.getBuiltinModule("node:fs");

// src/system/embedded-assets.ts
/** Drops indentation, and comments on their own lines. */
const embedded = (file) => readFileSync(file, "utf8").replaceAll(/^\s*(?:\/\/.*|\/\*(?:[^*]|\*(?!\/))*\*\/)\n|^\s+/gm, "");
/** Wraps a file in a strict function, so that its names stay out of the page as those of a module do. */
const embeddedScript = (file) => `\n(() => {\n'use strict';\n${embedded(file)}})();\n`;

export { embedded, embeddedScript };