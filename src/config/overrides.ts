// Parses overrides of ppsgate.yml for one gate, in the same words and units.

import type { z } from 'zod';
import { type Priority, priorities } from '../model/priority.ts';
import { expected, sentence } from '../model/units.ts';
import { UsageError } from '../model/usage-error.ts';
import { wrongName } from './fields.ts';
import type { NamingStyle, TextOption } from './parameters.ts';
import {
  type Config,
  configKeys,
  frameSize,
  type Gate,
  scenariosIn,
  usualProfileSeconds,
  wholeGate,
  wrongScenario,
} from './schema.ts';

/** Texts as typed; lists with commas. An absent or empty one changes nothing. */
export type Overrides = Readonly<Partial<Record<TextOption, string | undefined>>>;

/** The configuration with the overrides in it; throws a `UsageError` that names the first wrong one as `calledAs` does. */
export function applyOverrides(config: Config, texts: Overrides, calledAs: NamingStyle): Config {
  const { shape } = configKeys;
  const { scenarios, families, profile: asked } = texts;
  const { profile: written, ...rest } = config;
  const profile = asked ? profileAsked(config, asked, calledAs('profile')) : written;
  return {
    ...rest,
    ...(profile && { profile }),
    ...(scenarios && { scenarios: namedScenarios(config, scenarios, calledAs('scenarios')) }),
    ...(families && { families: parse(calledAs('families'), shape.families, list(families)) }),
    gate: overrideGate(config.gate, texts, calledAs),
  };
}

function profileAsked(config: Config, text: string, called: string): Config['profile'] {
  const usual = config.profile ?? { seconds: usualProfileSeconds(config) };
  if (text === 'on') return usual;
  if (text === 'off') return undefined;
  if (!/^\d/.test(text)) {
    throw refused(called, expected('on, off or a duration like 20 s')({ input: text }));
  }
  const { window } = parse(called, configKeys.shape.profile, { window: text });
  return { ...usual, seconds: window ?? usual.seconds };
}

function namedScenarios(config: Config, text: string, called: string): Config['scenarios'] {
  const named = parse(called, configKeys.shape.scenarios, list(text));
  const known = scenariosIn(config);
  const stranger = named.find((name) => !known.includes(name));
  if (stranger === undefined) return named;
  throw refused(called, wrongScenario(known)({ input: stranger }));
}

/** The same for what a verdict is held to alone, which without a configuration has its defaults. */
export function overrideGate(
  gate: Gate | undefined,
  texts: Overrides,
  calledAs: NamingStyle,
): Gate {
  const schema = configKeys.shape.gate;
  const { metric, margin, falseAlarms, power, design, maxRuns, stopAtFirst } = texts;
  const read = (name: TextOption, value: unknown) =>
    wholeGate(parse(calledAs(name), schema, { [name]: value }));
  const { stopsAtFirst, ...written } = gate ?? wholeGate(schema.parse({}));
  const isEndedEarly = stopAtFirst
    ? isOn(stopAtFirst, calledAs('stopAtFirst'))
    : stopsAtFirst === true;
  return {
    ...written,
    ...(isEndedEarly && { stopsAtFirst: true }),
    ...(metric && { metric: read('metric', metric).metric }),
    ...(margin && { marginRatio: read('margin', margin).marginRatio }),
    ...(falseAlarms && { falseAlarmRatio: read('falseAlarms', falseAlarms).falseAlarmRatio }),
    ...(power && { missRatio: read('power', power).missRatio }),
    ...(design && { design: read('design', design).design }),
    ...(maxRuns && { maxRunsPerVariant: parseMaxRuns(maxRuns, calledAs('maxRuns')) }),
  };
}

function isOn(text: string, called: string): boolean {
  if (text === 'on' || text === 'off') return text === 'on';
  throw refused(called, expected('on or off')({ input: text }));
}

/** A seed of the order of runs: a whole number from 0 to 2³¹ − 1. */
export function parseSeed(text: string, called: string): number {
  const seed = Number(text);
  if (/^\d+$/.test(text) && seed < 2 ** 31) return seed;
  throw refused(called, expected('a whole number from 0 to 2147483647')({ input: text }));
}

/** Priority in the queue for a testbed; a patch's when absent. */
export function parsePriority(text: string | undefined, called: string): Priority {
  const named = text || 'patch';
  const priority = priorities.find((one) => one === named);
  if (priority !== undefined) return priority;
  throw refused(called, wrongName(priorities)({ input: named }));
}

/** Reads a switch from typed text. */
export function parseSwitch(text: string | undefined, called: string): boolean {
  if (!text || text === 'true' || text === 'false') return text === 'true';
  throw refused(called, expected('true or false')({ input: text }));
}

/** Most runs of a variant and cell. */
export function parseMaxRuns(text: string, called: string): number {
  const maxRuns = /^\d+$/.test(text) ? Number(text) : text;
  const { maxRunsPerVariant } = parse(called, configKeys.shape.gate, { maxRuns });
  return maxRunsPerVariant ?? 0;
}

/** Default of a bisection's most boots. */
export const usualMostBoots = 60;

/** Two of each end, and two more of the neighbours. */
const leastBoots = 6;

/** Most boots of a bisection; the usual number when absent. */
export function parseMostBoots(text: string | undefined, called: string): number {
  if (!text) return usualMostBoots;
  const boots = Number(text);
  if (/^\d{1,5}$/.test(text) && boots >= leastBoots && boots <= 10_000) return boots;
  throw refused(called, expected(`a whole number from ${leastBoots} to 10000`)({ input: text }));
}

/** Bytes of a frame, as `traffic.frameSize` has them. */
export const parseFrameSize = (text: string, called: string): number =>
  parse(called, frameSize, text);

/** Selectors for testbeds, with commas between them. */
export const parseEach = (text: string, called: string): string[] =>
  parse(called, configKeys.shape.each.unwrap(), list(text));

const list = (text: string): string[] => text.split(',').map((item) => item.trim());

function parse<Schema extends z.ZodType>(
  called: string,
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw refused(called, parsed.error.issues[0]?.message ?? 'cannot be used');
}

const refused = (called: string, message: string): UsageError =>
  new UsageError(`${called}: ${sentence(message)}`);
