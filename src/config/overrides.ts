// Parses overrides of ppsgate.yml for one gate, with the same keys and units.

import type { z } from 'zod';
import { type Priority, priorities } from '../model/priority.ts';
import { expected, sentence } from '../model/units.ts';
import { UsageError } from '../model/usage-error.ts';
import { wrongName } from './fields.ts';
import { frameSize } from './packets.ts';
import { type NamingStyle, type TextOption, usualMostBoots } from './parameters.ts';
import {
  type Config,
  configKeys,
  type Gate,
  scenariosIn,
  usualProfileSeconds,
  wholeGate,
  wrongScenario,
} from './schema.ts';

/** An absent or empty override changes nothing; commas separate lists. */
export type Overrides = Readonly<Partial<Record<TextOption, string | undefined>>>;

/** Throws a `UsageError` that names the first wrong override in the style of `calledAs`. */
export function applyOverrides(config: Config, texts: Overrides, calledAs: NamingStyle): Config {
  const { shape } = configKeys;
  const { scenarios, families, profile: profileText } = texts;
  const { profile: written, ...rest } = config;
  const profile = profileText ? profileFrom(config, profileText, calledAs('profile')) : written;
  return {
    ...rest,
    ...(profile && { profile }),
    ...(scenarios && { scenarios: namedScenarios(config, scenarios, calledAs('scenarios')) }),
    ...(families && {
      families: parse(calledAs('families'), shape.families, list(families, calledAs('families'))),
    }),
    gate: overrideGate(config.gate, texts, calledAs),
  };
}

function profileFrom(config: Config, text: string, called: string): Config['profile'] {
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
  const named = parse(called, configKeys.shape.scenarios, list(text, called));
  const known = scenariosIn(config);
  const stranger = named.find((name) => !known.includes(name));
  if (stranger === undefined) return named;
  throw refused(called, wrongScenario(known)({ input: stranger }));
}

/** Overrides only the parameters of a verdict; uses defaults without a configuration. */
export function overrideGate(gate: Gate | undefined, texts: Overrides, calledAs: NamingStyle): Gate {
  const schema = configKeys.shape.gate;
  const { metric, margin, falseAlarms, power, design, maxRuns, stopAtFirst } = texts;
  const read = (name: TextOption, value: unknown) => wholeGate(parse(calledAs(name), schema, { [name]: value }));
  const { stopsAtFirst, ...written } = gate ?? wholeGate(schema.parse({}));
  const isEndedEarly = stopAtFirst ? isOn(stopAtFirst, calledAs('stopAtFirst')) : stopsAtFirst === true;
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

/** Whole, from 0 to 2³¹ − 1; seeds the order of runs. */
export function parseSeed(text: string, called: string): number {
  const seed = Number(text);
  if (/^\d+$/.test(text) && seed < 2 ** 31) return seed;
  throw refused(called, expected('a whole number from 0 to 2147483647')({ input: text }));
}

/** Absent: the priority of a patch. */
export function parsePriority(text: string | undefined, called: string): Priority {
  const named = text || 'patch';
  const priority = priorities.find((one) => one === named);
  if (priority !== undefined) return priority;
  throw refused(called, wrongName(priorities)({ input: named }));
}

export function parseSwitch(text: string | undefined, called: string): boolean {
  if (!text || text === 'true' || text === 'false') return text === 'true';
  throw refused(called, expected('true or false')({ input: text }));
}

/** Per variant and cell. */
export function parseMaxRuns(text: string, called: string): number {
  const maxRuns = /^\d+$/.test(text) ? Number(text) : text;
  const { maxRunsPerVariant } = parse(called, configKeys.shape.gate, { maxRuns });
  return maxRunsPerVariant ?? 0;
}

/** Two boots of each end, and two of the neighbours. */
const leastBoots = 6;

/** Absent: the default. */
export function parseMostBoots(text: string | undefined, called: string): number {
  if (!text) return usualMostBoots;
  const boots = Number(text);
  if (/^\d{1,5}$/.test(text) && boots >= leastBoots && boots <= 10_000) return boots;
  throw refused(called, expected(`a whole number from ${leastBoots} to 10000`)({ input: text }));
}

export const parseFrameSize = (text: string, called: string): number => parse(called, frameSize, text);

export const parseEach = (text: string, called: string): string[] =>
  parse(called, configKeys.shape.each.unwrap(), list(text, called));

function list(text: string, called: string): string[] {
  const items = text.split(',').map((item) => item.trim());
  if (items.length === 1 || items.every(Boolean)) return items;
  throw refused(called, expected('names with one comma in between')({ input: text }));
}

function parse<Schema extends z.ZodType>(called: string, schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw refused(called, parsed.error.issues[0]?.message ?? 'cannot be used');
}

const refused = (called: string, message: string): UsageError => new UsageError(`${called}: ${sentence(message)}`);
