// Simulates a design, or a bisection, with known noise, before a lab is booked: error rates, runs and minutes.
// By hand: node bench/simulate.ts --noise 1% --history 10
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { kebabCase } from '../src/config/parameters.ts';
import { formatPercent } from '../src/model/format.ts';
import { designNames } from '../src/model/result.ts';
import { cvOf, readNoiseFile } from './noise-file.ts';
import { simulateBisect } from './simulated-bisections.ts';
import { type NoiseSource, simulate } from './simulated-gates.ts';

const usage = `Usage: node bench/simulate.ts --noise FILE|CV [option…]

--noise FILE|CV        JSON lines with pps, one per cell's runs; or a CV like 1%
--max-cv PERCENT       omit noisier lines (CV: standard deviation over mean)
--effects LIST         true changes (default: 0, half the margin, the margin, -50%; bisections: 0,-2%,-5%,-10%)
--history N            earlier runs of the base of each cell (default: 0)
--experiments N        simulations for each row (default: 20000 cells, or 1000 bisections)
--seed N               seed of all random numbers (default: 1)
--reboot SECONDS       duration of a run without its traffic (default: 240)
--traffic SECONDS      duration of the traffic of one run (default: 68)
--json                 print the rows as JSON
Gates:
--design LIST          fixed, group-sequential, or both (default: both)
--margin PERCENT       the loss that matters (default: 2%)
--false-alarms PERCENT required rate of false alarms, over all cells of a patch (default: 1%)
--power PERCENT        required power, at a loss of the margin (default: 95%)
--cells N              cells of a patch, judged together (default: 1)
--max-runs N           maximum runs of each variant (default: 20)
--build-noise PERCENT  noise between builds of a kernel (CV; default: 0%)
--layout-variants N    layouts of each kernel, which runs boot in turn (default: 1)
Bisections:
--bisect               simulate bisections for the commit that changed the rate
--commits LIST         steps of the range (default: 256)
--broken PERCENT       share of commits that cannot be measured, six in a row (default: 0%)
--build-minutes N      minutes to build a kernel (default: 10)
--max-boots N          maximum number of boots (default: 60)
`;

const ratio = z
  .string()
  .regex(/^(?:0|[-−+]?\d+(?:\.\d+)?%)$/, 'expected a percentage like 2%')
  .transform((text) => Number.parseFloat(text.replace('−', '-')) / 100);
const count = z.coerce.number().int().min(0);
const seconds = z.coerce.number().min(0);
const listOf = <Item extends z.ZodType<unknown, string>>(item: Item) =>
  z
    .string()
    .transform((text) => text.split(',').map((part) => part.trim()))
    .pipe(z.array(item));

const optionsSchema = z.object({
  noise: z.string(),
  maxCv: ratio.optional(),
  effects: listOf(ratio).optional(),
  history: count.default(0),
  experiments: count.optional(),
  seed: count.default(1),
  reboot: seconds.default(240),
  traffic: seconds.default(68),
  json: z.boolean().default(false),
  design: listOf(z.enum(designNames)).default([...designNames]),
  margin: ratio.default(0.02),
  falseAlarms: ratio.default(0.01),
  power: ratio.default(0.95),
  cells: count.default(1),
  maxRuns: count.default(20),
  buildNoise: ratio.default(0),
  layoutVariants: count.default(1),
  bisect: z.boolean().default(false),
  commits: listOf(z.coerce.number<string>().int().min(1)).default([256]),
  broken: ratio.default(0),
  buildMinutes: z.coerce.number().default(10),
  maxBoots: count.default(60),
});

type Options = z.output<typeof optionsSchema>;

function parseOptions(words: readonly string[]): Options {
  const flags = new Set(['json', 'bisect']);
  const names = Object.keys(optionsSchema.shape);
  const { values } = parseArgs({
    args: [...words],
    options: Object.fromEntries(
      names.map((name) => [kebabCase(name), { type: flags.has(name) ? 'boolean' : 'string' } as const]),
    ),
  });
  return optionsSchema.parse(Object.fromEntries(names.map((name) => [name, values[kebabCase(name)]])));
}

async function noiseOf({ noise, maxCv = Infinity }: Options): Promise<{ source: NoiseSource; text: string }> {
  if (noise.endsWith('%'))
    return { source: { kind: 'normal', cv: ratio.parse(noise) }, text: `normal noise of ${noise}` };
  const { cells, lines } = await readNoiseFile(noise);
  const kept = cells.map((sets) => sets.filter((set) => cvOf(set) <= maxCv)).filter((sets) => sets.length > 0);
  const text = `${noise}: ${kept.flat().length} of ${lines} sets of runs, of ${kept.length} cells`;
  return { source: { kind: 'sets', cells: kept }, text };
}

type Row = Record<string, string | number>;

function* gateRows(options: Options, noise: NoiseSource): Generator<Row> {
  const { design, margin, cells, reboot, traffic } = options;
  for (const name of design) {
    for (const effect of options.effects ?? [0, -margin / 2, -margin, -0.5]) {
      const {
        meanMostRuns: _,
        patchRegression,
        ...row
      } = simulate({
        noise,
        design: { name, budgets: [options.maxRuns] },
        historyRuns: options.history,
        rates: { falseAlarms: options.falseAlarms, misses: 1 - options.power },
        cells,
        marginRatio: margin,
        effect,
        builds: { cv: options.buildNoise, layouts: options.layoutVariants },
        experiments: options.experiments ?? 20_000,
        seed: options.seed,
      });
      const meanMinutes = (row.meanRuns * (reboot + traffic)) / 60;
      yield { design: name, effect, ...row, ...(cells > 1 && { patchRegression }), meanMinutes };
    }
  }
}

function* bisectRows(options: Options, noise: NoiseSource): Generator<Row> {
  const { broken, buildMinutes, reboot, traffic, history, maxBoots, seed } = options;
  const run = (reboot + traffic) / 60;
  for (const commits of options.commits) {
    for (const effect of options.effects ?? [0, -0.02, -0.05, -0.1]) {
      const { allFound: _, ...row } = simulateBisect({
        noise,
        commits,
        // Typical if one commit breaks a driver and a later one fixes it.
        brokenInARow: 6,
        experiments: options.experiments ?? 1000,
        seed,
        effects: [effect],
        brokenRatio: broken,
        historyRuns: history,
        mostBoots: maxBoots,
        // After a kernel that fails to boot, the DUT boots its own.
        minutes: { build: buildMinutes, run, failure: 2 * run },
      });
      yield { commits, effect, ...row };
    }
  }
}

/** Numbers of runs, boots and minutes as they are, and all others as percentages; right-aligned. */
function tableOf(rows: readonly Row[]): string {
  const textOf = (name: string, value: string | number): string => {
    if (typeof value === 'string' || name === 'commits') return String(value);
    if (name === 'effect') return formatPercent(value);
    return /Runs|Boots|Minutes/.test(name) ? value.toFixed(2) : `${(value * 100).toFixed(2)} %`;
  };
  const heads = Object.keys(rows[0] ?? {}).map((name) => kebabCase(name).replaceAll('-', ' '));
  const lines = [heads, ...rows.map((row) => Object.entries(row).map(([name, value]) => textOf(name, value)))];
  const widths = heads.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines.map((line) => line.map((text, column) => text.padStart(widths[column] ?? 0)).join('  ')).join('\n');
}

try {
  const options = parseOptions(process.argv.slice(2));
  const { source, text } = await noiseOf(options);
  const rows = [...(options.bisect ? bisectRows : gateRows)(options, source)];
  console.log(options.json ? JSON.stringify({ rows }) : `${text}\n\n${tableOf(rows)}`);
} catch (error) {
  const why = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
  process.stderr.write(`${why}\n\n${usage}`);
  process.exitCode = 2;
}
