// Decodes a Conduit call over HTTP: valid forms, and those that look valid.
import { isText, refusal, type Values } from './conduit.ts';
import { decoded } from './raw-diff.ts';

export type Encoding = 'params' | 'form' | 'brackets' | 'query';

export type Decoded = {
  params: Values;
  token: string | undefined;
  encoding: Encoding;
  wantsHtml: boolean;
};

/** @throws ConduitError if the real server refuses to read it */
export function decodeCall(method: string, query: string, contentType: string, bytes: Buffer): Decoded {
  if (contentType === 'application/json') {
    throw refusal(
      "Use form-encoded data to submit parameters to Conduit endpoints. Sending a JSON-encoded body and setting 'Content-Type': 'application/json' is not currently supported.",
    );
  }
  const boundary = /^multipart\/form-data; *boundary=(.+)$/.exec(contentType)?.[1];
  const sent =
    boundary === undefined
      ? [...pairs(Buffer.from(query)), ...pairs(bytes)]
      : parts(bytes, boundary).map((name) => [name.replaceAll('.', '_'), ''] as const);
  const fields = nested(sent);
  const wantsHtml = fields.output === 'human';
  if (fields.params !== undefined) {
    return { ...fromParams(method, fields.params), wantsHtml };
  }
  const { 'api.token': token, output: _output, __conduit__: _conduit, ...params } = fields;
  const encoding = query === '' ? 'form' : 'query';
  return { params, token: isText(token) ? token : undefined, encoding, wantsHtml };
}

/** Ignores everything next to `params`, including a token. */
function fromParams(method: string, sent: unknown): Omit<Decoded, 'wantsHtml'> {
  const unreadable = refusal(`Invalid parameter information was passed to method '${method}'.`);
  const encoding = isText(sent) ? 'params' : 'brackets';
  const values = isText(sent)
    ? parsed(sent)
    : Object.fromEntries(Object.entries(sent ?? {}).map(([key, value]) => [key, parsed(value)]));
  if (typeof values !== 'object' || values === null) throw unreadable;
  const isBroken = Object.values(values).includes(undefined);
  if (isBroken) throw unreadable;
  const { __conduit__: about, ...params }: Values = { ...values };
  const { token } = (about ?? {}) as { token?: unknown };
  return { params, token: isText(token) ? token : undefined, encoding };
}

function parsed(json: unknown): unknown {
  try {
    return isText(json) ? JSON.parse(json) : undefined;
  } catch {
    return undefined;
  }
}

function pairs(bytes: Buffer): [string, string][] {
  return bytes
    .toString('latin1')
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const [name = '', ...value] = pair.split('=');
      return [unescaped(name), unescaped(value.join('='))];
    });
}

function unescaped(text: string): string {
  const bytes = text
    .replaceAll('+', ' ')
    .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return decoded(Buffer.from(bytes, 'latin1'));
}

/** Names of the parts, refused with any content, as PHP replaces the dot in `api.token`. */
function parts(bytes: Buffer, boundary: string): string[] {
  return bytes
    .toString()
    .split(`--${boundary}`)
    .flatMap((part) => /name="([^"]*)"/.exec(part)?.[1] ?? []);
}

/** `a[b][0]=x` as `{ a: { b: ['x'] } }`. */
function nested(sent: readonly (readonly [string, string])[]): Values {
  const fields: Values = {};
  for (const [name, value] of sent) {
    const path = /^([^[]+)((?:\[[^\]]*\])*)$/.exec(name);
    const keys = path ? [path[1] ?? '', ...inBrackets(path[2] ?? '')] : [name];
    put(fields, keys, value);
  }
  return listed(fields) as Values;
}

function inBrackets(text: string): string[] {
  return [...text.matchAll(/\[([^\]]*)\]/g)].map(([, key]) => key ?? '');
}

function put(map: Values, [first = '', ...rest]: string[], value: string): void {
  const key = first === '' ? String(Object.keys(map).length) : first;
  if (rest.length === 0) {
    map[key] = value;
    return;
  }
  const inner = map[key];
  const next: Values = typeof inner === 'object' && inner !== null ? { ...inner } : {};
  put(next, rest, value);
  map[key] = next;
}

/** A map whose keys are 0, 1, 2… is a list to PHP. */
function listed(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, one]) => [key, listed(one)] as const);
  const isList = entries.length > 0 && entries.every(([key], at) => key === String(at));
  return isList ? entries.map(([, one]) => one) : Object.fromEntries(entries);
}
