// What a person asks of one gate instead of what ppsgate.yml says, in the same words and units.
import type { z } from 'zod';
import { type Config, configSchema } from './schema.ts';

/** Texts as typed; lists with commas. An absent or empty one changes nothing. */
export type Overrides = {
  scenarios?: string | undefined;
  families?: string | undefined;
  metric?: string | undefined;
  margin?: string | undefined;
  runs?: string | undefined;
};

/** An option or input that cannot be used. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The configuration with the overrides in it; throws a `UsageError` that names the first wrong one. */
export function applyOverrides(config: Config, texts: Overrides): Config {
  const { shape } = configSchema;
  const { scenarios, families, metric, margin, runs } = texts;
  const gate = (name: string, value: unknown) => parse(name, shape.gate, { [name]: value });
  return {
    ...config,
    ...(scenarios && { scenarios: parse('scenarios', shape.scenarios, list(scenarios)) }),
    ...(families && { families: parse('families', shape.families, list(families)) }),
    gate: {
      ...config.gate,
      ...(metric && { metric: gate('metric', metric).metric }),
      ...(margin && { marginRatio: gate('margin', margin).marginRatio }),
      ...(runs && { runsPerVariant: gate('runs', Number(runs)).runsPerVariant }),
    },
  };
}

/** A seed of the order of runs: a whole number from 0 to 2³¹ − 1. */
export function parseSeed(text: string): number {
  const seed = Number(text);
  if (/^\d+$/.test(text) && seed < 2 ** 31) return seed;
  throw new UsageError(`seed: expected a whole number from 0 to 2147483647, found "${text}".`);
}

const list = (text: string): string[] => text.split(',').map((item) => item.trim());

function parse<Schema extends z.ZodType>(
  name: string,
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new UsageError(`${name}: ${parsed.error.issues[0]?.message ?? 'cannot be used'}.`);
}
