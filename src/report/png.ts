// Renders a picture in SVG as a PNG, for places that show nothing else.

import { readFile } from 'node:fs/promises';
import { brotliDecompressSync } from 'node:zlib';

/**
 * Draws two pixels for each of the picture's, for dense screens; the same bytes for the same picture. Throws for what
 * is no SVG.
 */
export async function pngOf(svg: string): Promise<Uint8Array> {
  loading ??= load();
  const { Resvg, fontBuffers } = await loading;
  const picture = new Resvg(svg, {
    fitTo: { mode: 'zoom', value: 2 },
    font: { fontBuffers, defaultFontFamily: 'Open Sans' },
  });
  try {
    const image = picture.render();
    const png = image.asPng();
    image.free();
    return png;
  } finally {
    picture.free();
  }
}

/** WebAssembly is initialized once in a process. */
let loading: ReturnType<typeof load> | undefined;

async function load() {
  const [{ initWasm, Resvg }, wasm, ...fontBuffers] = await Promise.all([
    import('@resvg/resvg-wasm'),
    readFile(wasmFile),
    ...fontFiles.map((file) => readFile(file)),
  ]);
  // As npm has it, or as the build leaves it.
  await initWasm(isWebAssembly(wasm) ? wasm : brotliDecompressSync(wasm));
  return { Resvg, fontBuffers };
}

const isWebAssembly = (bytes: Buffer): boolean => bytes.subarray(0, 4).toString() === '\0asm';

// Written in one piece each, by which the build finds them.
const wasmFile = new URL('../../node_modules/@resvg/resvg-wasm/index_bg.wasm', import.meta.url);
const fontFiles = [
  new URL(
    '../../node_modules/@fontsource/open-sans/files/open-sans-latin-400-normal.woff2',
    import.meta.url,
  ),
  new URL(
    '../../node_modules/@fontsource/open-sans/files/open-sans-latin-600-normal.woff2',
    import.meta.url,
  ),
];
