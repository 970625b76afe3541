// Zips files as actions/upload-artifact does, and puts the zip on the fake GitHub. It imports nothing of the
// project, for act runs it from a copy.
import { appendFileSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { crc32 } from 'node:zlib';

const input = (name) => process.env[`INPUT_${name.toUpperCase()}`]?.trim() ?? '';

const name = input('name');
const paths = input('path')
  .split('\n')
  .map((path) => path.trim())
  .filter((path) => path !== '');
const files = paths.flatMap((path) => filesAt(resolve(path)));

if (/["*:<>?|\\/\r\n]/.test(name)) fail(`The artifact name is not valid: ${name}`);
else if (paths.some((path) => /[*?[\]!]/.test(path))) fail('The stand-in knows no patterns.');
else if (files.length === 0) nothingFound();
else await upload(zipOf(files));

function filesAt(path) {
  if (!existsSync(path)) return [];
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path)
    .filter((entry) => input('include-hidden-files') === 'true' || !entry.startsWith('.'))
    .sort()
    .flatMap((entry) => filesAt(join(path, entry)));
}

function nothingFound() {
  const message = `No files were found with the provided path: ${paths.join(', ')}. No artifacts will be uploaded.`;
  const what = input('if-no-files-found');
  if (what === 'error') fail(message);
  else if (what !== 'ignore') console.log(`::warning::${message}`);
}

async function upload(zip) {
  const { GITHUB_API_URL, GITHUB_RUN_ID, GITHUB_OUTPUT } = process.env;
  const url = `${GITHUB_API_URL}/_artifacts/${GITHUB_RUN_ID}/${encodeURIComponent(name)}`;
  const authorization = `Bearer ${input('token')}`;
  const answer = await fetch(url, { method: 'PUT', headers: { authorization }, body: zip });
  const { id, message } = await answer.json();
  if (!answer.ok) fail(`Failed to upload ${name}: ${answer.status} ${message}`);
  else appendFileSync(GITHUB_OUTPUT, `artifact-id=${id}\n`);
}

/** The one folder that was asked for is the root; of several paths what they have in common. */
function rootOf() {
  const [first, ...others] = paths.map((path) => resolve(path));
  if (others.length === 0 && statSync(first).isDirectory()) return first;
  let root = dirname(first);
  while (!others.every((path) => path.startsWith(root + sep))) root = dirname(root);
  return root;
}

/** PKWARE's APPNOTE.TXT 6.3: each file stored behind its header, and a directory of them at the end. */
function zipOf(files) {
  const root = rootOf();
  const parts = [];
  const directory = [];
  let offset = 0;
  for (const file of files) {
    const bytes = readFileSync(file);
    const path = Buffer.from(relative(root, file).split(sep).join('/'));
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0); // version
    fields.writeUInt16LE(0x800, 2); // names are UTF-8
    fields.writeUInt16LE(0x21, 8); // 1980-01-01
    fields.writeUInt32LE(crc32(bytes), 10);
    fields.writeUInt32LE(bytes.length, 14);
    fields.writeUInt32LE(bytes.length, 18);
    fields.writeUInt16LE(path.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), fields, path, bytes]);
    const more = Buffer.alloc(14);
    more.writeUInt32LE(offset, 10);
    directory.push(Buffer.from('PK\x01\x02\x14\x00', 'latin1'), fields, more, path);
    parts.push(local);
    offset += local.length;
  }
  const size = directory.reduce((sum, part) => sum + part.length, 0);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(size, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, ...directory, end]);
}

function fail(message) {
  console.log(`::error::${message}`);
  process.exitCode = 1;
}
