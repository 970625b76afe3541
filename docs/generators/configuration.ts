// Builds the reference of ppsgate.yml from the JSON Schema that its own schema makes.
import type { z } from 'zod';
import { code, type Row, table } from './markdown.ts';

type Schema = z.core.JSONSchema.BaseSchema;

/** Examples by top-level key, by `kind` of a testbed, or `top` for keys without a part of the page. */
export type Examples = Readonly<Record<string, readonly string[]>>;

export function configurationPage(schema: Schema, examples: Examples): string {
  const pages = new Page();
  const examplesOf = (name: string) =>
    (examples[name] ?? []).map((text) => `Example:\n\n\`\`\`yaml\n${text.trim()}\n\`\`\``);
  const blocks = Object.entries(schema.properties ?? {}).flatMap(([key, value]) => blocksOf(key, plain(value)));
  const parts = blocks.flatMap(({ name, path, heading, schema }) => [
    `## ${heading}`,
    ...(schema.description === undefined ? [] : [schema.description]),
    ...pages.sections(path, schema),
    ...examplesOf(name),
  ]);
  const all = ['## Top level', ...pages.top(schema), ...examplesOf('top'), ...parts];
  return `${[head, ...all].join('\n\n')}\n`;
}

const head = `# ppsgate.yml

Generated from the schema by \`vitest run tests/docs/configuration.test.ts --update\`; do not edit.

Only \`testbeds\` is required. A quantity carries its unit: \`2%\`, \`3 Mpps\`, \`500 ms\`, \`64 bytes\`. Relative paths start at
the folder of \`ppsgate.yml\`. \`NAME\` is a name of your own. Every example below is loaded by a test.
[The annotated file](../example/ppsgate.yml) has all settings in one place, and
[the JSON Schema](../ppsgate.schema.json) serves editors.`;

type Block = { name: string; path: string; heading: string; schema: Schema };

/** Keys with settings of their own have a part of the page, and so has each kind of testbed. */
function blocksOf(key: string, schema: Schema): Block[] {
  const { at, schema: child } = childOf(key, schema);
  if (at === key || variantsOf(child).length === 0) {
    const { description = child.description } = schema;
    const whole = { ...child, ...(description !== undefined && { description }) };
    return hasSettings(child) ? [{ name: key, path: at, heading: code(at), schema: whole }] : [];
  }
  return variantsOf(child).map((variant) => {
    const heading = `${code(at)} with ${code(labelOf(variant))}`;
    return { name: kindOf(variant) ?? '', path: at, heading, schema: variant };
  });
}

const hasSettings = (schema: Schema): boolean => schema.properties !== undefined || variantsOf(schema).length > 0;

/** Tables of settings; a table that was there before is named instead. */
class Page {
  readonly #seen = new Map<string, string>();

  top = (schema: Schema): string[] => [table(heads, rowsOf(schema))];

  sections(path: string, schema: Schema): string[] {
    const variants = variantsOf(schema);
    if (variants.length > 0) {
      return variants.filter(hasSettings).flatMap((variant) => {
        const parts = this.sections(path, variant);
        const heading = `### ${code(path)} with ${code(labelOf(variant))}`;
        return [heading, ...(parts.length > 0 ? parts : [`As ${code(path)} above.`])];
      });
    }
    const rows = rowsOf(schema);
    const before = this.#seen.get(JSON.stringify(rows));
    if (before === path) return [];
    if (before !== undefined) return [`The settings are those of ${code(before)}.`];
    this.#seen.set(JSON.stringify(rows), path);
    const inner = Object.entries(schema.properties ?? {}).flatMap(([key, value]) => {
      const { at, schema: child } = childOf(`${path}.${key}`, plain(value));
      if (!hasSettings(child)) return [];
      const parts = this.sections(at, child);
      return variantsOf(child).length > 0 ? parts : headed(`### ${code(at)}`, parts);
    });
    return [table(heads, rows), ...inner];
  }
}

const headed = (heading: string, parts: readonly string[]): string[] => (parts.length === 0 ? [] : [heading, ...parts]);

const heads = ['setting', 'value', 'default', 'meaning'];

const rowsOf = (schema: Schema): Row[] =>
  Object.entries(schema.properties ?? {}).map(([key, value]) => rowOf(key, plain(value), schema));

/** Finds the settings of a value: its own, or those of each item of a list, or of each value by name. */
function childOf(path: string, schema: Schema): { at: string; schema: Schema } {
  const lists = [schema, ...(schema.anyOf ?? []).map(plain)].map(({ items }) => plain(items));
  const items = lists.find((one) => one === schema.items || hasSettings(one));
  if (items !== undefined) return { at: `${path}[]`, schema: items };
  const byName = valuesOf(schema);
  return byName === undefined ? { at: path, schema } : { at: `${path}.NAME`, schema: byName };
}

function rowOf(key: string, schema: Schema, { required = [] }: Schema): Row {
  const given = schema.default;
  const isPlain = given !== undefined && JSON.stringify(given) !== '{}';
  const initial = isPlain ? code(written(given)) : required.includes(key) ? 'required' : '';
  return [code(key), typeOf(schema), initial, schema.description ?? ''];
}

const written = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : JSON.stringify(value)
        .replaceAll('"', '')
        .replaceAll(/([:,])/g, '$1 ');

function typeOf(schema: Schema): string {
  if (schema.const !== undefined) return code(written(schema.const));
  if (schema.enum !== undefined) return schema.enum.map((one) => code(written(one))).join(', ');
  if (schema.title !== undefined) return schema.title;
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices !== undefined) {
    const plainChoices = choices.map(plain);
    return variantsOf(schema).length > 0
      ? plainChoices.map((one) => code(labelOf(one))).join(', ')
      : plainChoices.map(typeOf).join(', or ');
  }
  if (schema.type === 'array') return listType(schema);
  if (schema.type === 'boolean') return '`true`, `false`';
  const byName = valuesOf(schema);
  if (byName !== undefined) return `by name: ${typeOf(byName)}`;
  if (schema.type === 'object') return 'settings';
  return schema.type === 'string' ? 'text' : String(schema.type ?? 'any value');
}

function listType({ items, minItems = 0 }: Schema): string {
  const least = minItems > 0 ? `at least ${minItems}` : '';
  if (!isSchema(items)) return ['list', least].filter(Boolean).join(', ');
  const { examples } = items as { examples?: unknown };
  const names = Array.isArray(examples) ? examples.map((one) => code(written(one))) : [];
  const item = names.length > 0 ? names.join(', ') : typeOf(items);
  return [`list of ${item}`, least].filter(Boolean).join('; ');
}

/** Alternatives with settings of their own. */
function variantsOf(schema: Schema): Schema[] {
  const choices = (schema.oneOf ?? schema.anyOf ?? []).map(plain);
  return choices.some(({ properties }) => properties !== undefined) ? choices : [];
}

const labelOf = (variant: Schema): string => {
  const key = variant.properties?.store === undefined ? 'kind' : 'store';
  const kind = kindOf(variant);
  if (kind !== undefined) return `${key}: ${kind}`;
  const { properties } = variant;
  if (properties === undefined) return typeOf(variant);
  const [kernel] = variantsOf(plain(properties.kernel));
  return kernel === undefined ? `{ ${Object.keys(properties).join(', ')} }` : `kernel: { ${labelOf(kernel)} }`;
};

/** Value that chooses a variant; builders of virtual testbeds are distinguished by their kernels. */
function kindOf({ properties = {} }: Schema): string | undefined {
  const { kind, store } = properties;
  const chosen = [kind, store].filter(isSchema).find((one) => one.const !== undefined);
  return chosen && String(chosen.const);
}

function valuesOf({ additionalProperties }: Schema): Schema | undefined {
  const isOpen = isSchema(additionalProperties) && Object.keys(additionalProperties).length > 0;
  return isOpen ? additionalProperties : undefined;
}

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const plain = (value: unknown): Schema => (isSchema(value) ? value : {});
