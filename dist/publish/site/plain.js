import { colors, pageStyle } from "../../report/plain.js";
import { embedded } from "../../system/embedded-assets.js";
const { readFileSync } = globalThis.process.getBuiltinModule("node:fs");

// src/publish/site/page-assets.ts
const uplotScript = new URL("../../uPlot.iife.min.js", import.meta.url);
const uplotStyle = new URL("../../uPlot.min.css", import.meta.url);
const files = () => [
	["site.css", `${pageStyle()}${embedded(new URL("../../build-site.css", import.meta.url))}`],
	["site.js", script()],
	["icon.svg", icon],
	["uplot.js", `/*\n${uplotLicense}*/\n${readFileSync(uplotScript, "utf8")}`],
	["uplot.css", readFileSync(uplotStyle, "utf8")]
];
/** Joins the modules into one plain script, as pages on a disk cannot load modules. */
function script() {
	return `(() => {\n'use strict';\n${[
		embedded(new URL("../../chart.js", import.meta.url)),
		embedded(new URL("../../series-view.js", import.meta.url)),
		embedded(new URL("../../series-address.js", import.meta.url)),
		embedded(new URL("../../series-drawing.js", import.meta.url)),
		embedded(new URL("../../series-text.js", import.meta.url)),
		embedded(new URL("../../series-chart.js", import.meta.url)),
		embedded(new URL("../../small-charts.js", import.meta.url)),
		embedded(new URL("../../ages.js", import.meta.url))
	].join("").replaceAll(/^import [^;]*;\n/gm, "").replaceAll(/^export /gm, "")}})();\n`;
}
const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="${colors.ink}"/><path d="M2.5 5.5h5v5h6" fill="none" stroke="${colors.paper}" stroke-width="2"/></svg>
`;
/** uPlot's licence requires this text on a site that contains it. */
const uplotLicense = `The MIT License (MIT)

Copyright (c) 2022 Leon Sorokin

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.
`;

export { files };