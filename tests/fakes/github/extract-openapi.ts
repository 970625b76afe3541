// Extracts the operations that the fake serves from GitHub's own OpenAPI description, and writes openapi.json.
//
// The whole description is 13 MB in a package of 385 MB, so it is no dependency. To run this again, after adding an
// operation below or for a newer description:
//   (cd "$(mktemp -d)" && npm pack @octokit/openapi@23.0.2 && tar xzf *.tgz package/generated/api.github.com.json && pwd)
//   node tests/fakes/github/extract-openapi.ts THAT_FOLDER/package/generated/api.github.com.json
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const operationIds = [
  'actions/cancel-workflow-run',
  'actions/download-artifact',
  'actions/get-workflow-run',
  'actions/list-workflow-run-artifacts',
  'actions/list-workflow-runs-for-repo',
  'checks/create',
  'checks/list-for-ref',
  'checks/update',
  'git/create-blob',
  'git/create-commit',
  'git/create-tree',
  'git/get-blob',
  'git/get-commit',
  'git/get-ref',
  'git/get-tree',
  'issues/add-labels',
  'issues/create',
  'issues/create-comment',
  'issues/create-label',
  'issues/delete-comment',
  'issues/get',
  'issues/list-comments',
  'issues/list-for-repo',
  'issues/remove-label',
  'issues/update',
  'issues/update-comment',
  'pulls/get',
  'pulls/list',
  'reactions/create-for-issue-comment',
  'repos/create-commit-status',
  'repos/create-dispatch-event',
  'repos/get-collaborator-permission-level',
  'repos/list-pull-requests-associated-with-commit',
];

/** Keys that validate nothing here. */
const unused = new Set([
  ...['summary', 'description', 'title', 'example', 'examples', 'externalDocs', 'tags', 'deprecated', 'headers'],
  ...['x-github', 'x-octokit', 'x-multi-segment', 'x-github-breaking-changes'],
]);

/** Objects whose keys are free names, such as a property called `description`. */
const nameMaps = ['properties', 'responses', 'content'];

type Json = string | number | boolean | null | Json[] | JsonObject;
type JsonObject = { [key: string]: Json };

const [source] = process.argv.slice(2);
if (source === undefined) throw new Error('Say where api.github.com.json is: see the top of this file.');
const whole = JSON.parse(readFileSync(source, 'utf8')) as JsonObject;
writeFileSync(join(import.meta.dirname, 'openapi.json'), `${JSON.stringify(extract(whole), null, 1)}\n`);

function extract(description: JsonObject): JsonObject {
  const paths = usedPaths(objectAt(description, 'paths'));
  return {
    openapi: '3.0.3',
    info: { title: 'GitHub', version: '1' },
    paths,
    components: usedComponents(description, paths),
  };
}

function usedPaths(paths: JsonObject): JsonObject {
  const used: JsonObject = {};
  for (const path of Object.keys(paths)) {
    const operations = Object.entries(objectAt(paths, path)).filter(([, operation]) => isUsed(operation));
    if (operations.length > 0) used[path] = pruned(Object.fromEntries(operations));
  }
  return used;
}

function isUsed(operation: Json): boolean {
  return (
    isObject(operation) && typeof operation.operationId === 'string' && operationIds.includes(operation.operationId)
  );
}

/** Everything that `paths` refers to, recursively. */
function usedComponents(description: JsonObject, paths: JsonObject): JsonObject {
  const components: JsonObject = {};
  const seen = new Set<string>();
  const open = references(paths);
  for (let reference = open.pop(); reference !== undefined; reference = open.pop()) {
    if (seen.has(reference)) continue;
    seen.add(reference);
    const [kind = '', name = ''] = reference.replace('#/components/', '').split('/');
    const component = pruned(objectAt(objectAt(objectAt(description, 'components'), kind), name));
    components[kind] = { ...(components[kind] as JsonObject | undefined), [name]: component };
    open.push(...references(component));
  }
  return components;
}

function references(json: Json): string[] {
  if (!isObject(json)) return Array.isArray(json) ? json.flatMap(references) : [];
  return Object.entries(json).flatMap(([key, value]) =>
    key === '$ref' && typeof value === 'string' ? [value] : references(value),
  );
}

function pruned<T extends Json>(json: T, keysAreNames = false): T {
  if (Array.isArray(json)) return json.map((item) => pruned(item)) as T;
  if (!isObject(json)) return json;
  const written = keysAreNames ? json : withNullChoice(json);
  const kept = Object.entries(written).filter(([key]) => keysAreNames || !unused.has(key));
  return Object.fromEntries(
    kept.map(([key, value]) => [key, pruned(withNull(json, key, value), !keysAreNames && nameMaps.includes(key))]),
  ) as T;
}

/** GitHub returns null for nullable enumerations, but does not list null in them as OpenAPI requires. */
function withNull({ nullable }: JsonObject, key: string, value: Json): Json {
  const isLacking = key === 'enum' && nullable === true && Array.isArray(value) && !value.includes(null);
  return isLacking ? [...value, null] : value;
}

/** A oneOf or null has no `type`, without which OpenAPI ignores `nullable`. */
function withNullChoice(json: JsonObject): JsonObject {
  const { nullable, ...rest } = json;
  const [key] = ['oneOf', 'anyOf'].filter((one) => Array.isArray(rest[one]));
  if (nullable !== true || 'type' in rest || key === undefined) return json;
  return { ...rest, [key]: [...(rest[key] as Json[]), { enum: [null] }] };
}

function objectAt(json: JsonObject, key: string): JsonObject {
  const value = json[key];
  if (value === undefined || !isObject(value)) throw new Error(`There is no ${key} in the description.`);
  return value;
}

function isObject(json: Json): json is JsonObject {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}
