// Lists the encodings in which a secret may be printed.

/** Shorter secrets occur in ordinary words. */
const shortestSecret = 5;

/** Longer texts are keys, which are no arguments of commands: few encodings keep the mask fast. */
const maxLinesOfPassword = 4;

/** Returns each line of a secret and the whole, plain and encoded; without the armour of a key. */
export function secretForms(secret: string): string[] {
  const lines = secret.split(/\r?\n/).map((line) => line.trim());
  const texts = [...new Set([...lines, secret.trim(), secret])].filter(
    (text) => text.length >= shortestSecret && !text.startsWith('-----'),
  );
  const isPassword = lines.length <= maxLinesOfPassword;
  const forms = texts.flatMap((text) => [
    text,
    ...(isPassword ? [...quotedForms(text), ...hexForms(text)] : [hexOf(text)]),
    ...base64Forms(text),
  ]);
  return forms.filter(({ length }) => length >= shortestSecret);
}

/** Encodes for quotes of JSON, a shell, and XML. */
function quotedForms(text: string): string[] {
  const json = JSON.stringify(text).slice(1, -1);
  const xml = text.replace(/[&<>"']/g, (sign) => entities[sign] ?? sign);
  return [json, text.replaceAll("'", `'\\''`), text.replaceAll("'", `'"'"'`), xml];
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const hexOf = (text: string): string => Buffer.from(text).toString('hex');

function hexForms(text: string): string[] {
  const plain = hexOf(text);
  const forms = ['', ':', ' ', '-'].map((by) => plain.replace(/..(?!$)/g, `$&${by}`));
  return forms.flatMap((form) => [form, form.toUpperCase()]);
}

/**
 * Encodes in the alphabets of files and of URLs, also within a longer text, where a secret may begin at any of three
 * positions.
 */
function base64Forms(text: string): string[] {
  const bytes = Buffer.from(text);
  const inner = [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    const bits = 8 * (offset + bytes.length);
    return encoded.slice(Math.ceil((8 * offset) / 6), Math.floor(bits / 6));
  });
  const whole = bytes.toString('base64').replace(/=+$/, '');
  return [whole, ...inner].flatMap((form) => [form, form.replaceAll('+', '-').replaceAll('/', '_')]);
}
