import { brotliDecompressSync } from "node:zlib";
import { readFile } from "node:fs/promises";

// src/report/png.ts
/** With two pixels for each of the picture's, for dense screens; the same bytes for the same picture. Throws for what is no SVG. */
async function pngOf(svg) {
	loading ??= load();
	const { Resvg, fontBuffers } = await loading;
	const picture = new Resvg(svg, {
		fitTo: {
			mode: "zoom",
			value: 2
		},
		font: {
			fontBuffers,
			defaultFontFamily: "Open Sans"
		}
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
let loading;
async function load() {
	const [{ initWasm, Resvg }, wasm, ...fontBuffers] = await Promise.all([
		import("./resvg-wasm.js"),
		readFile(wasmFile),
		...fontFiles.map((file) => readFile(file))
	]);
	await initWasm(isWebAssembly(wasm) ? wasm : brotliDecompressSync(wasm));
	return {
		Resvg,
		fontBuffers
	};
}
const isWebAssembly = (bytes) => bytes.subarray(0, 4).toString() === "\0asm";
const wasmFile = new URL("index_bg.wasm", import.meta.url);
const fontFiles = [new URL("open-sans-latin-400-normal.woff2", import.meta.url), new URL("open-sans-latin-600-normal.woff2", import.meta.url)];

export { pngOf as t };