// What the page looks like: by light and by night, on a phone, on a desk and on paper.
import { colors } from './interval-plot.ts';

const light = {
  ...colors,
  // As flamegraphs have a paper of their own.
  page: colors.paper,
  desk: '#f5f7f9',
  blue: '#0b62b8',
  shade: '#eef1f4',
  kernel: '#f0b46c',
  module: '#7fc4b4',
};

const dark: Record<keyof typeof light, string> = {
  desk: '#0f1419',
  paper: '#171d24',
  page: '#171d24',
  ink: '#e3e8ee',
  faint: '#98a3af',
  pale: '#2c343d',
  red: '#ff8078',
  green: '#5bc98a',
  amber: '#e0a94a',
  grey: '#98a3af',
  blue: '#79b8ff',
  shade: '#1f262e',
  kernel: '#a8692a',
  module: '#3a8071',
};

const properties = (scheme: Record<string, string>): string =>
  Object.entries(scheme)
    .map(([name, color]) => `--${name}:${color};`)
    .join('');

/** The plot names its colours itself; here each becomes the page's own. */
const plotColors = Object.entries(colors)
  .flatMap(([name, color]) =>
    ['fill', 'stroke'].map(
      (which) => `.intervals [${which}="${color}"]{${which}:var(--${name})}\n`,
    ),
  )
  .join('');

export const pageStyle = `
:root{color-scheme:light dark;${properties(light)}}
@media (prefers-color-scheme:dark){:root{${properties(dark)}}}
*{box-sizing:border-box}
html{scroll-padding-top:1rem;-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--desk);color:var(--ink);font:15px/1.55 system-ui,-apple-system,'Segoe UI','Open Sans','Helvetica Neue',Arial,sans-serif}
header,section,footer{width:min(72rem,100% - 2rem);margin:0 auto 1.25rem;padding:1.25rem 1.75rem;background:var(--paper);border:1px solid var(--pale);border-radius:10px;overflow-wrap:break-word}
header{margin-top:1.5rem;border-top:5px solid var(--grey)}
header.regression{border-top-color:var(--red)}
header.improvement,header.no-regression{border-top-color:var(--green)}
header.inconclusive{border-top-color:var(--amber)}
footer{background:none;border:0;padding-block:0;color:var(--faint);font-size:13px}
main{min-width:0}
h1{margin:.1rem 0 .5rem;font-size:1.6rem;line-height:1.3;font-weight:650;text-wrap:balance}
h2{margin:0 0 .6rem;font-size:1.2rem;line-height:1.3}
p+h2,.scroll+h2{margin-top:1.5rem}
h3{margin:1.6rem 0 .4rem;font-size:1rem}
p{margin:.35rem 0}
ul{margin:.35rem 0;padding-left:1.2rem}
a{color:var(--blue);text-underline-offset:.15em}
.name{margin:0;color:var(--faint);font-weight:600;letter-spacing:.02em}
.faint,caption,dt{color:var(--faint)}
code,pre,.other{font-family:ui-monospace,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono',monospace;font-size:.88em}
code{overflow-wrap:anywhere}
pre{margin:0;padding:.8rem 1rem;line-height:1.4;background:var(--shade);border-radius:6px;width:max-content;min-width:100%}
.mark{width:.85em;height:.85em;vertical-align:-.04em;fill:currentColor}
.regression{--verdict:var(--red)}
.improvement,.no-regression{--verdict:var(--green)}
.inconclusive{--verdict:var(--amber)}
.invalid{--verdict:var(--grey)}
.mark,b[class]{color:var(--verdict)}
.scroll{overflow-x:auto;max-width:100%;margin:.5rem 0}
:focus-visible{outline:2px solid var(--blue);outline-offset:2px;border-radius:3px}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
caption{text-align:left;padding-bottom:.4rem;font-size:13px}
caption span{display:inline-block;position:sticky;left:0;max-width:min(100%,calc(100vw - 2.2rem))}
th,td{padding:.4rem .9rem .4rem 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--pale)}
th{font-weight:inherit}
thead th{color:var(--faint);font-size:13px;white-space:nowrap;vertical-align:bottom}
tbody th{white-space:nowrap}
tbody tr:last-child>*{border-bottom:0}
.number{text-align:right}
th a{text-decoration:none}
th a:hover{text-decoration:underline}
.other{padding-left:1.2rem;color:var(--faint)}
nav{margin-top:1rem;padding-top:.8rem;border-top:1px solid var(--pale)}
nav ul{list-style:none;margin:0;padding:0;display:flex;flex-wrap:wrap;gap:.2rem 1.6rem}
nav li{white-space:nowrap}
details{margin:.6rem 0}
summary{cursor:pointer;padding:.2rem 0;width:fit-content}
summary:hover{color:var(--blue)}
.intervals{margin-inline:-1.75rem}
.intervals svg,.runs{display:block;width:100%;height:auto;min-width:44rem}
.runs{font-size:12px;fill:var(--faint)}
.runs path{fill:none;stroke:var(--faint)}
.runs .edge{stroke:var(--pale)}
.runs .middle{stroke-dasharray:5 4;opacity:.7}
.runs path.base{stroke:var(--faint);stroke-width:1.4}
.runs path.patched{stroke:var(--blue);fill:var(--blue)}
.runs path.other{stroke:var(--amber)}
.runs path.middle{fill:none}
.runs path.uncounted{stroke:var(--red);stroke-width:1.6}
.graphs{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(17rem,100%),1fr));gap:.8rem}
.graph{margin:0;min-width:0;border:1px solid var(--pale);border-radius:8px;overflow:hidden}
.graph[open]{grid-column:1/-1}
.graph summary{width:auto;padding:.5rem .8rem}
.preview{display:block;width:100%;height:7.5rem;margin-top:.5rem}
.preview path{stroke:var(--paper);vector-effect:non-scaling-stroke;stroke-width:.7}
.preview .of-kernel{fill:var(--kernel)}
.preview .of-module{fill:var(--module)}
.preview .same{fill:var(--pale)}
.preview .more{fill:var(--red)}
.preview .less{fill:var(--blue)}
.preview :is(.more,.less):not(.much){opacity:.45}
.graph[open]>summary .preview{display:none}
.graph .ppsgate-flamegraph{--paper:var(--page)}
dl{margin:1rem 0 0;display:grid;grid-template-columns:repeat(auto-fill,minmax(min(28rem,100%),1fr));gap:.1rem 2rem}
dl div{display:flex;gap:.8rem;padding:.3rem 0;border-bottom:1px solid var(--pale);min-width:0}
dt{flex:0 0 38%;overflow-wrap:anywhere}
dd{margin:0;min-width:0;overflow-wrap:anywhere}
${plotColors}
@media (max-width:40rem){
body{font-size:14.5px}
header,section,footer{width:auto;padding:1rem;border-radius:0;border-inline:0;margin-bottom:.8rem}
header{margin-top:0}
.intervals{margin-inline:-1rem}
h1{font-size:1.3rem}
tbody th:first-child{position:sticky;left:0;background:var(--paper)}
}
@media print{
:root{${properties(light)}}
body{background:none;font-size:11px}
header,section{border-inline:0;border-bottom:0;border-radius:0;padding-inline:0;width:auto}
.scroll{overflow:visible}
.intervals svg,.runs{min-width:0}
h2,h3{break-after:avoid}
tr,.graph{break-inside:avoid}
}
`;
