// Builds the reference of ppsgate.yml from the JSON Schema that its own schema makes.
import type { z } from 'zod';
import { code } from './markdown.ts';

type Schema = z.core.JSONSchema.BaseSchema;

export function configurationPage(schema: Schema): string {
  const pages = new Page();
  const blocks = Object.entries(schema.properties ?? {}).flatMap(([key, value]) => blocksOf(key, plain(value)));
  const parts = blocks.flatMap(({ path, heading, schema }) => [`## ${heading}`, ...pages.sections(path, schema)]);
  const all = ['## Top level', pages.list(schema), ...parts];
  return `${[head, ...all].join('\n\n')}\n`;
}

const head = `# ppsgate.yml

Generated from the schema by \`vitest run tests/docs/configuration.test.ts --update\`; do not edit.

Only \`testbeds\` is required. A quantity carries its unit: \`2%\`, \`3 Mpps\`, \`500 ms\`, \`64 bytes\`. Relative paths start at
the folder of \`ppsgate.yml\`, \`~/\` at your home. \`NAME\` is a name of your own.
Examples: [common settings](../example/ppsgate.yml), virtual machines of [Linux](../example/virtual.yml) and
[FreeBSD](../example/virtual-freebsd.yml), [FreeBSD labs](../how-to/lab.md#start-from-a-bench). [The JSON
Schema](../ppsgate.schema.json) serves editors.`;

type Block = { path: string; heading: string; schema: Schema };

/** Keys with settings of their own have a part of the page, and so has each kind of testbed. */
function blocksOf(key: string, schema: Schema): Block[] {
  const { at, schema: child } = childOf(key, schema);
  if (at === key || variantsOf(child).length === 0) {
    return hasSettings(child) ? [{ path: at, heading: code(at), schema: child }] : [];
  }
  return variantsOf(child).map((variant) => {
    const heading = `${code(at)} with ${code(labelOf(variant))}`;
    return { path: at, heading, schema: variant };
  });
}

const hasSettings = (schema: Schema): boolean => schema.properties !== undefined || variantsOf(schema).length > 0;

/** Lists of settings; one that was listed before is only named. */
class Page {
  readonly #seen = new Set<string>();

  sections(path: string, schema: Schema): string[] {
    const variants = variantsOf(schema);
    if (variants.length > 0) {
      return variants
        .filter(hasSettings)
        .flatMap((variant) => [`### ${code(path)} with ${code(labelOf(variant))}`, ...this.sections(path, variant)]);
    }
    const whole = path + JSON.stringify(schema);
    if (this.#seen.has(whole)) return [];
    this.#seen.add(whole);
    const own = this.list(schema);
    const inner = Object.entries(schema.properties ?? {}).flatMap(([key, value]) => {
      const { at, schema: child } = childOf(`${path}.${key}`, plain(value));
      const parts = hasSettings(child) ? this.sections(at, child) : [];
      return parts.length === 0 || variantsOf(child).length > 0 ? parts : [`### ${code(at)}`, ...parts];
    });
    return [own, ...inner];
  }

  list(schema: Schema): string {
    const lines = Object.entries(schema.properties ?? {}).map(([key, value]) => ({
      key,
      line: lineOf(key, plain(value), schema),
    }));
    const known = lines.filter(({ line }) => this.#seen.has(line));
    const added = lines.filter(({ line }) => !this.#seen.has(line)).map(({ line }) => line);
    for (const line of added) this.#seen.add(line);
    const named = known.map(({ key }) => code(key)).join(', ');
    return [...added, ...(known.length > 0 ? [`- ${named}: as above`] : [])].join('\n');
  }
}

/** Finds the settings of a value: its own, or those of each item of a list, or of each value by name. */
function childOf(path: string, schema: Schema): { at: string; schema: Schema } {
  const lists = [schema, ...(schema.anyOf ?? []).map(plain)].map(({ items }) => plain(items));
  const items = lists.find((one) => one === schema.items || hasSettings(one));
  if (items !== undefined) return { at: `${path}[]`, schema: items };
  const byName = valuesOf(schema);
  return byName === undefined ? { at: path, schema } : { at: `${path}.NAME`, schema: byName };
}

function lineOf(key: string, schema: Schema, { required = [] }: Schema): string {
  const given = schema.default;
  const isPlain = given !== undefined && JSON.stringify(given) !== '{}';
  const initial = isPlain ? `default ${code(written(given))}` : required.includes(key) ? 'required' : '';
  const { description = '' } = schema;
  // Settings of its own have a section.
  const type = typeOf(schema);
  const values = [type === 'settings' ? '' : type, initial].filter(Boolean).join('; ');
  return `- ${[code(key), values && `(${values})`, description].filter(Boolean).join(' ')}`;
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
  if (schema.title !== undefined) {
    return schema.title.replace(/ \(.*\)$/, '').replace(/^a whole number (?:from |(?=of ))/, '');
  }
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices !== undefined) {
    const plainChoices = choices.map(plain);
    return variantsOf(schema).length > 0
      ? plainChoices.map((one) => (hasSettings(one) ? code(labelOf(one)) : typeOf(one))).join(', ')
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
  const least = minItems > 1 ? `at least ${minItems}` : '';
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
